import type { Duplex } from 'node:stream';
import type { RuntimeHandle } from '../container-runtime.ts';

export type ProgramRequest = {
  /** argv, never a shell string. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** `terminal`: of its own, by which all its output is one. `joined`: one too, without a terminal. `apart`: two. */
  readonly form: 'terminal' | 'joined' | 'apart';
  /** Whether it gets input. A terminal's has no end. */
  readonly stdin: boolean;
  /** The program starts once this resolves, and never when it rejects. */
  readonly startAfter?: Promise<unknown>;
  /** Takes no turn, because no request waits for it. The caller limits such starts. */
  readonly isInBackground?: boolean;
};

export type ProgramOutput = { readonly stream: 'stdout' | 'stderr'; readonly data: Buffer };

/** A started program, and the connection to it. The connection's end does not end the program. */
export interface ContainerProgram {
  /**
   * Takes its input. Of the forms `terminal` and `joined` it also gives the output, and not reading pauses the program.
   * An error is followed by `close`, and never thrown unhandled.
   */
  readonly stream: Duplex;
  /** The output of any form, for one reader of this alone, as it asks for it. Throws when the connection breaks. */
  output(): AsyncIterable<ProgramOutput>;
  /** Of a program that has ended or soon will; null when it runs, or when its end is not known. Never throws. */
  exitCode(): Promise<number | null>;
  /** Whether its first process runs. */
  isRunning(): Promise<boolean>;
  /**
   * From now on a pause of the stream loses nothing of a program that ends meanwhile, where the engine would discard
   * what is not read soon.
   */
  keepTail?(): void;
  /** Never throws. */
  resize(cols: number, rows: number): Promise<void>;
}

/** Gives a turn back; idempotent. */
export type Release = () => void;

/**
 * How one engine starts programs in its containers. Everything that Berth does inside containers needs nothing else. A
 * container is named by its runtime id.
 */
export interface ContainerPrograms {
  /**
   * Throws `ContainerNotRunning`, `RuntimeBusy` without a turn in time, and `OutcomeUnknown` when the program may have
   * started.
   */
  start(runtimeId: string, request: ProgramRequest): Promise<ContainerProgram>;
  /** Whether it looks like the engine's own words, printed in place of a program that it could not start. */
  isStartReport(output: Buffer): boolean;
  /** Whether the container has too few processes left to start a shell. */
  isFull(runtimeId: string): Promise<boolean>;
  /** Whether no request waits for the engine. */
  isIdle(): boolean;
  /** The user who is charged for calls to the container. */
  ownerOf(runtimeId: string): string;
  /** A turn for an archive or upload. Throws `RuntimeBusy` without one in time. */
  transfer(runtimeId: string): Promise<Release>;
  /** A turn for one piece of a file in transit. Waits without limit. */
  piece(runtimeId: string): Promise<Release>;
}

/** The runtime id of this installation's container. Throws `ContainerNotRunning` when it is not there. */
export type FindRuntimeId = (handle: RuntimeHandle) => Promise<string>;
