import { Requester, type TokenSource } from '../../../src/client/request/requester.ts';
import { noteAnswer, noteNoAnswer } from '../lib/browser/server-reachability.ts';
import { unreachable } from './errors.ts';

export type RequestOptions = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly token?: string;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The type of a good answer; JSON by default. */
  readonly reads?: 'json' | 'file';
};

export type Answer = { readonly status: number; readonly body: unknown };

/** A change of network, as to another Wi-Fi, breaks requests under way. Refusals are shown to the user at once. */
const RETRIES = { retries: 1, firstMs: 250, maxMs: 250, maxWaitMs: 0 };

/** Requests of this page with that token. */
export const requesterWith = (token: TokenSource): Requester =>
  new Requester({
    server: '',
    token,
    retries: RETRIES,
    timeoutMs: 30_000,
    observer: { answered: noteAnswer, unanswered: noteNoAnswer },
  });

const anonymous = requesterWith(null);

/** Rejects for a file that is cut off. */
async function fileOf(response: Response): Promise<Blob> {
  try {
    return await response.blob();
  } catch {
    throw unreachable();
  }
}

/** An answer of any status. Throws a {@link BerthError} of status 0 when none comes in time. */
export async function exchange(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await anonymous.send(path, { ...options, anyStatus: true });
  return { status: response.status, body: await response.json().catch(() => null) };
}

/** The answer's body, or throws a {@link BerthError}. */
export async function request<T>(
  path: string,
  { reads = 'json', headers, ...options }: RequestOptions = {},
  requester = anonymous,
): Promise<T> {
  if (reads === 'json') return await requester.json<T>(path, { ...options, ...(headers && { headers }) });
  const response = await requester.send(path, { ...options, headers: { accept: '*/*', ...headers } });
  return (await fileOf(response)) as T;
}
