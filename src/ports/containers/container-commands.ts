import type { ExecRequest, RuntimeHandle } from './container-runtime.ts';

export type CommandRequest = Omit<ExecRequest, 'maxOutputBytes' | 'room'>;

export type CommandEvent =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly data: Buffer }
  /** The last event. null: ended by the time limit. */
  | { readonly kind: 'exit'; readonly exitCode: number | null };

export interface RunningCommand {
  /** Read once, in the order of writing. Unread output blocks the program. Throws when the engine is lost. */
  readonly events: AsyncIterable<CommandEvent>;
  /** Ends everything that the command started, and the events. Does nothing after the end. Never throws. */
  end(): Promise<void>;
}

/** Commands with streamed output. */
export interface ContainerCommands {
  /** Throws `ContainerNotRunning`. */
  open(handle: RuntimeHandle, request: CommandRequest): Promise<RunningCommand>;
}
