/** How much of a program's output may be buffered for an answer. */
export type OutputRoom = {
  /** This much needs no permission. */
  readonly freeBytes: number;
  /** Called once before more is buffered. Until it resolves, the output is not read. */
  more(): Promise<void>;
  /** Aborted when the client is gone; buffered output is dropped. */
  readonly unwanted: AbortSignal;
};
