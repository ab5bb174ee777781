import { noteAnswer, noteNoAnswer } from '../lib/browser/server-reachability.ts';
import { type ApiError, errorOf, unanswered, unreachable } from './errors.ts';

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

const TIMEOUT_MS = 30_000;
const AGAIN_AFTER_MS = 250;

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

/** Rejects for a file that is cut off. */
async function fileOf(response: Response): Promise<Blob> {
  try {
    return await response.blob();
  } catch {
    throw unreachable();
  }
}

async function send(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, token, timeoutMs = TIMEOUT_MS } = options;
  const headers = new Headers({
    accept: options.reads === 'file' ? '*/*' : 'application/json',
    ...options.headers,
  });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const once = () =>
    fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      cache: 'no-store',
    });
  const askedAtMs = performance.now();
  try {
    const response = await (method === 'GET' ? once().catch(onceMore(once)) : once());
    noteAnswer(askedAtMs);
    return response;
  } catch {
    noteNoAnswer();
    throw method === 'GET' || token === undefined ? unreachable() : unanswered();
  }
}

/** A change of network, as to another Wi-Fi, breaks requests under way; a GET can be repeated. */
const onceMore = (again: () => Promise<Response>) => async (failure: Error) => {
  if (failure.name === 'TimeoutError') throw failure;
  await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
  return again();
};

/** An answer of any status. Throws an {@link ApiError} of status 0 when none comes in time. */
export async function exchange(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await send(path, options);
  return { status: response.status, body: await bodyOf(response) };
}

/** The answer's body, or throws an {@link ApiError}. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options);
  if (response.ok && options.reads === 'file') return (await fileOf(response)) as T;
  const body = await bodyOf(response);
  if (!response.ok) throw errorOf(response.status, body, response.headers.get('retry-after'));
  return body as T;
}

export const hasStatus = (failure: unknown, status: number): boolean =>
  (failure as Partial<ApiError> | null)?.status === status;
