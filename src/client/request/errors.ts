/** Messages by wire field name. */
export type FieldFaults = Readonly<Record<string, string>>;

type ErrorDetails = {
  readonly fields?: FieldFaults;
  readonly retryAfterSeconds?: number | null;
  readonly reason?: string | null;
  readonly requestId?: string | null;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

/** A request that did not do what was asked. `status` 0: no answer came. */
export class BerthError extends Error {
  override name = 'BerthError';
  readonly status: number;
  /** For programs: `name_taken`, `unauthorized`, … `unreachable` and `unanswered` without an answer. */
  readonly code: string;
  readonly fields: FieldFaults;
  readonly retryAfterSeconds: number | null;
  /** Why a session is over; null where the service does not say. */
  readonly reason: string | null;
  /** Finds the request in the service's log. */
  readonly requestId: string | null;
  /** The answer; empty when it was not JSON. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, more: ErrorDetails = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.status = status;
    this.code = code;
    this.fields = more.fields ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
    this.reason = more.reason ?? null;
    this.requestId = more.requestId ?? null;
    this.body = more.body ?? {};
  }
}

/** `server`: its address or name; empty for the page's own. */
export const unreachable = (cause?: unknown, server = ''): BerthError =>
  new BerthError(0, 'unreachable', `${server || 'Berth'} did not respond`, { cause });

/** For a request that may have been carried out all the same. */
export const unanswered = (cause?: unknown, server = ''): BerthError =>
  new BerthError(0, 'unanswered', `${server || 'Berth'} did not respond`, { cause });

export const hasStatus = (failure: unknown, status: number): boolean =>
  (failure as Partial<BerthError> | null)?.status === status;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const faultsIn = (value: unknown): FieldFaults =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** Reads an error answer; any other body, as from a proxy in between, becomes an error of its status. */
export function errorOf(status: number, body: unknown, headers: Headers): BerthError {
  const wire = isObject(body) ? body : {};
  const code = typeof wire['code'] === 'string' ? wire['code'] : `http_${status}`;
  const message =
    typeof wire['error'] === 'string' ? wire['error'] : `the service responded with status ${status}`;
  const retryAfter = headers.get('retry-after');
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  return new BerthError(status, code, message, {
    fields: faultsIn(wire['fields']),
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
    reason: typeof wire['reason'] === 'string' ? wire['reason'] : null,
    requestId: headers.get('x-request-id'),
    body: wire,
  });
}
