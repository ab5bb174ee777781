import type { Role } from '../../domain/containers/catalogue.ts';
import type { RuntimeHandle } from './container-runtime.ts';

export type CommandRequest = {
  /** argv, never a shell string. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly stdin?: Buffer;
  readonly timeoutSeconds: number;
};

export type CommandEvent =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly data: Buffer }
  /** The last event. null: ended by the time limit. `isCut`: the rest of its output was lost with that. */
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly isCut?: boolean };

export interface RunningCommand {
  /** Read once, in the order of writing. Unread output blocks the program. Throws `OutcomeUnknown`. */
  readonly events: AsyncIterable<CommandEvent>;
  /** Ends everything that the command started, and the events. Does nothing after the end. Never throws. */
  end(): Promise<void>;
}

/** The one way to run a program in a container. Its output is read while it runs. */
export interface ContainerCommands {
  /** Throws `ContainerNotRunning`, and `OutcomeUnknown` when the command may have started. */
  open(handle: RuntimeHandle, request: CommandRequest): Promise<RunningCommand>;
}

/**
 * Installs a role's tools in a container, as its root. Repeatable after any interruption: it first ends an earlier
 * attempt's programs and repairs a half-done installation.
 */
export interface RoleInstaller {
  /** Exits with 0 when complete. Throws `ContainerNotRunning`. */
  install(handle: RuntimeHandle, role: Role): Promise<RunningCommand>;
}
