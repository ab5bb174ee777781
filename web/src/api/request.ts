import { type ApiError, errorOf, unreachable } from './errors.ts';

export type RequestOptions = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly token?: string;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer = { readonly status: number; readonly body: unknown };

const TIMEOUT_MS = 30_000;

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

async function ask(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, token, timeoutMs = TIMEOUT_MS } = options;
  const headers = new Headers({ accept: 'application/json', ...options.headers });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  try {
    return await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      cache: 'no-store',
    });
  } catch {
    throw unreachable();
  }
}

/** Any answer, whatever its status. Throws an {@link ApiError} of status 0 when none comes in time. */
export async function exchange(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await ask(path, options);
  return { status: response.status, body: await bodyOf(response) };
}

/** The answer's body, or throws an {@link ApiError}. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await ask(path, options);
  const body = await bodyOf(response);
  if (!response.ok) throw errorOf(response.status, body, response.headers.get('retry-after'));
  return body as T;
}

export const hasStatus = (failure: unknown, status: number): boolean =>
  (failure as Partial<ApiError> | null)?.status === status;
