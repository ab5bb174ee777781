import type { ProcessObservation } from '../../../domain/containers/processes/process.ts';
import type { ProcessRequest, PtySize } from '../../../domain/containers/processes/process-request.ts';
import type { ProcessSignal } from '../../../domain/containers/processes/signals.ts';
import type { RuntimeHandle } from '../container-runtime.ts';

export type ProcessStart =
  | { readonly kind: 'started'; readonly pid: number }
  /** The container has had it before: a repeat. */
  | { readonly kind: 'known' }
  /** The image lacks a program that this needs. */
  | { readonly kind: 'tool_missing'; readonly tool: string }
  /** The container has reached its process limit. Nothing runs. */
  | { readonly kind: 'no_processes' };

export type OutputName = 'stdout' | 'stderr';

/** Bytes of both outputs. */
export type OutputOffsets = { readonly [N in OutputName]: number };

export type KeptOutput = {
  readonly [N in OutputName]: {
    readonly bytes: number;
    /** The offset of the first byte that is still kept. */
    readonly firstKept: number;
  };
};

export type OutputPiece = { readonly stream: OutputName; readonly offset: number; readonly data: Buffer };

export interface ProcessOutput {
  /** Where it starts: later than requested when output was removed, earlier when there is not as much. */
  readonly start: OutputOffsets;
  /**
   * Read once. Each stream's pieces are in order; a jump of the offset is removed output. It ends with the process, or
   * with what there is now where it is not followed. Throws `ContainerNotRunning`, `OutcomeUnknown`.
   */
  readonly pieces: AsyncIterable<OutputPiece>;
  /** Ends the pieces. Never throws. */
  end(): Promise<void>;
}

export type ProcessInput = {
  readonly data: Buffer;
  /** How much of the input came before; null for all. */
  readonly offset: number | null;
  /**
   * Offsets count the input of this writer alone, from what the process had when it first asked with a null offset. A
   * process remembers the last 1000 writers; one that it does not know continues at its own offset.
   */
  readonly writer?: string | null;
  readonly isLast: boolean;
};

/** `inputOffset`: the bytes of input that it has, as its writer counts. */
export type InputOutcome =
  | { readonly kind: 'taken' | 'gap' | 'closed' | 'full'; readonly inputOffset: number }
  | { readonly kind: 'ended' | 'no_input' };

/**
 * Programs that run in a container on their own, whatever becomes of the service. Every method throws
 * `ContainerNotRunning`, and `RuntimeUnavailable` when the engine does not answer.
 */
export interface ContainerProcesses {
  /** Repeatable with the same id: it starts nothing twice. Throws `OutcomeUnknown` when it may have started. */
  start(handle: RuntimeHandle, id: string, request: ProcessRequest): Promise<ProcessStart>;
  /** All that the container knows, by id. */
  list(handle: RuntimeHandle): Promise<ReadonlyMap<string, ProcessObservation>>;
  /** null for an id that it does not know, or whose output is no longer kept. */
  kept(handle: RuntimeHandle, id: string): Promise<KeptOutput | null>;
  /** null as for `kept`. `after`: how much of each output the caller has. */
  output(
    handle: RuntimeHandle,
    id: string,
    after: OutputOffsets,
    follow: boolean,
  ): Promise<ProcessOutput | null>;
  /**
   * Takes all of the input or nothing, without what it has already. What it has taken reaches the program, whatever
   * becomes of the service. Throws `OutcomeUnknown`; a repeat with the offset is safe, also while the first is on its way.
   */
  write(handle: RuntimeHandle, id: string, input: ProcessInput): Promise<InputOutcome>;
  /** Signals the program and everything that it started; false when nothing of it runs. */
  signal(handle: RuntimeHandle, id: string, signal: ProcessSignal): Promise<boolean>;
  /** Changes the size of its terminal; false when it has none, or does not run. */
  resize(handle: RuntimeHandle, id: string, size: PtySize): Promise<boolean>;
  /** SIGTERM, after 5 s SIGKILL, for the program and everything that it started. */
  end(handle: RuntimeHandle, id: string): Promise<ProcessObservation>;
}
