import type { Duplex } from 'node:stream';
import type { RuntimeHandle } from './container-runtime.ts';

export type TerminalRequest = {
  readonly cols: number;
  readonly rows: number;
  /**
   * Name of the multiplexer session to attach to, made when absent. Images without a multiplexer get a plain
   * login shell instead; `PtyStream.muxSession` tells which it was.
   */
  readonly muxSession: string;
  /** End the session of that name first, so that a fresh shell answers. */
  readonly forceNew: boolean;
  /** Set as BERTH_TERM in the environment of the whole process tree, so that it can be found and ended. */
  readonly marker: string;
  /** Shell of the catalogue image, for example /bin/bash. */
  readonly shell: string;
};

/** A live pseudo-terminal. Pausing the stream stops the program: back-pressure reaches the engine. */
export interface PtyStream {
  /** Terminal bytes both ways, binary-safe. `end` or `close` when the program or the connection ended. */
  readonly stream: Duplex;
  /** null when the image has no multiplexer. */
  readonly muxSession: string | null;
  /** cols and rows from 1 to 1000. Never throws after the end. */
  resize(cols: number, rows: number): Promise<void>;
  /** After the stream ended: the exit code, or null when it is unknown (engine gone, connection cut). */
  exitCode(): Promise<number | null>;
  /** Detaches: ends this attachment's processes, and leaves the multiplexer session running. */
  close(): Promise<void>;
}

/** Opens terminals inside containers. */
export interface TerminalBackend {
  open(handle: RuntimeHandle, request: TerminalRequest): Promise<PtyStream>;
  /** Ends the multiplexer session and all that runs in it. Absent is success. */
  killMuxSession(handle: RuntimeHandle, muxSession: string): Promise<void>;
}
