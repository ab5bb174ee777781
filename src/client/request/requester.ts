import { BerthError, errorOf, hasStatus, unanswered, unreachable } from './errors.ts';
import { CLIENT_RETRIES, isNotBegun, type RetryPolicy, retryWaitMs } from './retry.ts';
import { withoutSilenceLimit } from './silence-limit.ts';

/** A token, or a function of it. The function is called again with a token that the service has `refused`. */
export type TokenSource = string | null | ((refused?: string) => string | null | Promise<string | null>);

export type RequesterOptions = {
  /** `https://berth.example.org`; empty for the page's own origin. */
  readonly server: string;
  /** What failures call the service, instead of its address. */
  readonly serverName?: string;
  readonly token: TokenSource;
  readonly retries?: RetryPolicy;
  /** Limit for each try. */
  readonly timeoutMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof globalThis.fetch;
  /** Learns whether the service answers. `askedAtMs` is by `performance.now()`. */
  readonly observer?: { answered(askedAtMs: number): void; unanswered(): void };
};

export type RequestOptions = {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. A stream is sent once. */
  readonly content?: string | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>> | Headers;
  readonly signal?: AbortSignal | null;
  /** null: no limit, as for streams. */
  readonly timeoutMs?: number | null;
  /** Instead of the requester's token; null for none. */
  readonly token?: string | null;
  /** Instead of the requester's. */
  readonly retries?: RetryPolicy;
  /** Whether answers other than 2xx are returned too. */
  readonly anyStatus?: boolean;
};

type Page = { readonly location: { readonly origin: string } };

const TIMEOUT_MS = 90_000;

/** Node.js cancels the unread body of a response that was garbage collected: its reader would see no content. */
const responses = new WeakMap<ReadableStream, Response>();

/** The same response, which stays for as long as its body does. */
function kept(response: Response): Response {
  if (response.body !== null) responses.set(response.body, response);
  return response;
}

/** Sends requests with a credential and a time limit, and repeats those that may be repeated. */
export class Requester {
  readonly server: string;
  readonly #options: RequesterOptions;

  constructor(options: RequesterOptions) {
    this.server = options.server;
    this.#options = options;
  }

  /** `ws:` or `wss:` with host and path. */
  get webSocketOrigin(): string {
    const origin = this.server === '' ? (globalThis as unknown as Page).location.origin : this.server;
    return origin.replace(/^http/, 'ws');
  }

  /** The token to use now. `refused`: one that the service has just refused. */
  async token(refused?: string): Promise<string | null> {
    const { token } = this.#options;
    return typeof token === 'function' ? await token(refused) : token;
  }

  /** The answer, or throws a {@link BerthError}. `path` begins with `/`, or is a whole address. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const isGiven = options.token !== undefined;
    const token = isGiven ? (options.token ?? null) : await this.token();
    try {
      return await this.#repeated(path, options, token);
    } catch (failure) {
      const isFinal = isGiven || token === null || options.content instanceof ReadableStream;
      if (isFinal || !hasStatus(failure, 401) || typeof this.#options.token !== 'function') throw failure;
      const renewed = await this.token(token);
      if (renewed === null || renewed === token) throw failure;
      return await this.#repeated(path, options, renewed);
    }
  }

  /** The JSON of an answer; null when it is not JSON. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return (await jsonOf(await this.send(path, options))) as T;
  }

  async #repeated(path: string, options: RequestOptions, token: string | null): Promise<Response> {
    const retries = options.retries ?? this.#options.retries ?? CLIENT_RETRIES;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(path, options, token);
      } catch (failure) {
        const mayRepeat =
          failure instanceof BerthError && (isRepeatable(options) || mayBegin(failure, options));
        const waitMs = mayRepeat ? retryWaitMs(failure, attempt, retries, Math.random()) : null;
        if (waitMs === null) {
          if (hasStatus(failure, 0)) this.#options.observer?.unanswered();
          throw failure;
        }
        await pause(waitMs, options.signal);
      }
    }
  }

  async #attempt(path: string, options: RequestOptions, token: string | null): Promise<Response> {
    const { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS, observer } = this.#options;
    const { method = 'GET', signal = null } = options;
    const url = path.startsWith('/') ? this.server + path : path;
    const init = { ...requestInit(options, this.#options.headers, token), method };
    const limitMs = options.timeoutMs === undefined ? timeoutMs : options.timeoutMs;
    const noSilenceLimit = limitMs === null ? await withoutSilenceLimit() : {};
    const askedAtMs = performance.now();
    let response: Response;
    try {
      response = await whole(
        kept(await fetch(url, { ...init, ...noSilenceLimit, signal: limited(signal, limitMs) })),
      );
    } catch (cause) {
      signal?.throwIfAborted();
      const failure = method === 'GET' || token === null ? unreachable : unanswered;
      throw failure(cause, this.#options.serverName ?? this.server);
    }
    observer?.answered(askedAtMs);
    if (response.ok || options.anyStatus === true) return response;
    throw errorOf(response.status, await jsonOf(response), response.headers);
  }
}

const mayBegin = (failure: BerthError, { content }: RequestOptions): boolean =>
  isNotBegun(failure) && !(content instanceof ReadableStream);

function requestInit(
  { body, content, headers }: RequestOptions,
  always: Readonly<Record<string, string>> = {},
  token: string | null,
): RequestInit {
  const all = new Headers({ accept: 'application/json', ...always });
  new Headers(headers ?? {}).forEach((value, name) => {
    all.set(name, value);
  });
  if (token !== null) all.set('authorization', `Bearer ${token}`);
  if (body !== undefined) all.set('content-type', 'application/json');
  const sent = body === undefined ? (content ?? null) : JSON.stringify(body);
  const streamed = sent instanceof ReadableStream ? { duplex: 'half' as const } : {};
  return { headers: all, body: sent, cache: 'no-store', ...streamed };
}

const KEY = 'idempotency-key';

function isRepeatable({ method = 'GET', headers, content }: RequestOptions): boolean {
  if (content instanceof ReadableStream) return false;
  return method === 'GET' || method === 'HEAD' || new Headers(headers ?? {}).has(KEY);
}

function limited(signal: AbortSignal | null, timeoutMs: number | null): AbortSignal | null {
  if (timeoutMs === null) return signal;
  const limit = AbortSignal.timeout(timeoutMs);
  return signal === null ? limit : AbortSignal.any([signal, limit]);
}

/** A JSON answer with its whole body, so that a loss on the way is a lost request. */
async function whole(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('application/json')) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

/** Rejects with the signal's reason when it is aborted. */
const pause = (ms: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
