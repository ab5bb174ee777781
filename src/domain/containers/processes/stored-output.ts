/** How much of each output of a process is copied: the newest bytes. */
export const MAX_STORED_BYTES = 1_048_576;
/** The limit for all processes of one owner; above it the oldest copies lose their data. */
export const MAX_STORED_BYTES_OF_OWNER = 67_108_864;

export type StoredStream = { readonly firstKept: number; readonly data: Buffer };

/** A copy of a process's output outside its container. */
export type StoredOutput = {
  readonly stdout: StoredStream;
  readonly stderr: StoredStream;
  /** Whether the process was seen to end before: otherwise it may have written more. */
  readonly isWhole: boolean;
};

/** The bytes of a copy from this offset on. */
export function storedAfter({ firstKept, data }: StoredStream, after: number): StoredStream {
  const start = Math.min(Math.max(after, firstKept), firstKept + data.length);
  return { firstKept: start, data: data.subarray(start - firstKept) };
}
