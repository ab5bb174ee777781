import type { Readable } from 'node:stream';
import type { Role } from '../../../domain/containers/catalogue.ts';
import type { RuntimeHandle } from '../container-runtime.ts';

export type CommandRequest = {
  /** argv, never a shell string. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** A stream is read as fast as the program reads. Its end ends the program's input, not the program. */
  readonly stdin?: Buffer | Readable;
  /** Gives the program a terminal, by which all its output is `stdout`. The end of `stdin` has no effect then. */
  readonly terminal?: CommandTerminal;
  /** null: no limit. */
  readonly timeoutSeconds: number | null;
};

/** A command with a time limit. */
export type TimedCommand = CommandRequest & { readonly timeoutSeconds: number };

/** `cols` and `rows` are 1 to 1000; `term` is the terminal's type, such as `xterm-256color`. */
export type CommandTerminal = { readonly term: string; readonly cols: number; readonly rows: number };

/** Signals that a client may send, without `SIG`. */
export const COMMAND_SIGNALS = ['HUP', 'INT', 'KILL', 'QUIT', 'TERM', 'USR1', 'USR2'] as const;
export type CommandSignal = (typeof COMMAND_SIGNALS)[number];

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

/** A command whose signals and terminal the caller controls. */
export interface ControlledCommand extends RunningCommand {
  /** Sends a signal to everything that the command started. Never throws. */
  signal(name: CommandSignal): Promise<void>;
  /** Changes the size of its terminal; without one it does nothing. Never throws. */
  resize(cols: number, rows: number): Promise<void>;
}

/** The one way to run a program in a container. Its output is read while it runs. */
export interface ContainerCommands {
  /** Throws `ContainerNotRunning`, and `OutcomeUnknown` when the command may have started. */
  open(handle: RuntimeHandle, request: CommandRequest): Promise<ControlledCommand>;
}

/**
 * Installs a role's tools in a container, as its root. Repeatable after any interruption: it first ends an earlier
 * attempt's programs and repairs a half-done installation.
 */
export interface RoleInstaller {
  /** Exits with 0 when complete. Throws `ContainerNotRunning`. */
  install(handle: RuntimeHandle, role: Role): Promise<RunningCommand>;
}

/** Where a helper connects inside the container: a port of its loopback, or a UNIX socket. */
export type InnerAddress =
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

/** A connection to something that listens in a container. */
export interface InnerConnection {
  /** What it sends. Unread output blocks it. Its end does not end the other direction. */
  readonly output: AsyncIterable<Buffer>;
  /** Resolves when both directions have ended. */
  readonly closed: Promise<void>;
  /** Ends both directions. Never throws. */
  end(): Promise<void>;
}

/**
 * Where a helper listens: port 0 is a free one; `private` is a new UNIX socket that the container's user alone opens.
 */
export type InnerListening = InnerAddress | { readonly kind: 'private' };

/** A connection that has arrived at a listener. It waits for 30 seconds. */
export interface InnerArrival {
  /** Accepts it; the end of `stdin` is passed on. null when the connection has gone. */
  connect(stdin: Readable): Promise<InnerConnection | null>;
  /** Ends it. Never throws. */
  refuse(): void;
}

/** Something that listens in a container. */
export interface InnerListener {
  readonly address: InnerAddress;
  /** For one reader; ends with the listener. */
  readonly arrivals: AsyncIterable<InnerArrival>;
  /** Resolves when it and its connections have ended. */
  readonly closed: Promise<void>;
  /** Accepts no more; its connections go on. Never throws. */
  stop(): void;
  /** Ends it and its connections, and removes its socket. Never throws. */
  end(): Promise<void>;
}

/** Berth's own programs in a container of any image. They throw like `ContainerCommands`. */
export interface ContainerHelpers {
  /** An SFTP server on its input and output. Exits with 127 where the image can run none. */
  serveSftp(handle: RuntimeHandle, stdin: Readable): Promise<ControlledCommand>;
  /** The end of `stdin` is passed on. null when nothing listens there. */
  connect(handle: RuntimeHandle, to: InnerAddress, stdin: Readable): Promise<InnerConnection | null>;
  /** null when the address is not available. The listener ends with the service too, even a killed one. */
  listen(handle: RuntimeHandle, at: InnerListening): Promise<InnerListener | null>;
}
