/** Of each output of a process, the newest. */
export const MAX_STORED_BYTES = 1_048_576;
/** Of all processes in the containers of one owner; the data of the oldest is removed. */
export const MAX_STORED_BYTES_OF_OWNER = 67_108_864;

export type StoredStream = { readonly firstKept: number; readonly data: Buffer };

/** A copy of a process's output outside its container. */
export type StoredOutput = {
  readonly stdout: StoredStream;
  readonly stderr: StoredStream;
  /** Whether the process had ended: otherwise it may have written more. */
  readonly isWhole: boolean;
};

/** The part of a copy after this offset. */
export function storedAfter({ firstKept, data }: StoredStream, after: number): StoredStream {
  const start = Math.min(Math.max(after, firstKept), firstKept + data.length);
  return { firstKept: start, data: data.subarray(start - firstKept) };
}
