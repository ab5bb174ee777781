import type { ExecRequest, RuntimeHandle } from './container-runtime.ts';

export type CommandRequest = Omit<ExecRequest, 'maxOutputBytes' | 'room'>;

export type CommandEvent =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly data: Buffer }
  /** The last one. null: ended by the time limit. */
  | { readonly kind: 'exit'; readonly exitCode: number | null };

export interface RunningCommand {
  /** To be read once, in the order of writing. What is not read blocks the program. Throws when the engine is lost. */
  readonly events: AsyncIterable<CommandEvent>;
  /** Ends all that the command started, and with it the events. After the end it does nothing. Never throws. */
  end(): Promise<void>;
}

/** Commands whose output is followed while they run. */
export interface ContainerCommands {
  /** Throws `ContainerNotRunning`. */
  open(handle: RuntimeHandle, request: CommandRequest): Promise<RunningCommand>;
}
