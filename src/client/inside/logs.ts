import type { Requester } from '../request/requester.ts';
import { textOf } from './lines.ts';

export type LogOptions = {
  /** Lines from the end; all by default. */
  readonly tail?: number;
  /** Whether the log is read on as it grows. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
};

/** What the container's first program has written, in pieces of text. */
export async function* logs(
  requester: Requester,
  containerPath: string,
  { tail, follow = false, signal }: LogOptions = {},
): AsyncGenerator<string, void, undefined> {
  const query = new URLSearchParams({
    ...(tail !== undefined && { tail: String(tail) }),
    ...(follow && { follow: 'true' }),
  });
  const options = { headers: { accept: '*/*' }, signal: signal ?? null, timeoutMs: null };
  const response = await requester.send(`${containerPath}/logs?${query}`, options);
  yield* textOf(response.body);
}
