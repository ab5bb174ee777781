/** Messages by wire field name. */
export type FieldFaults = Readonly<Record<string, string>>;

/** A request that did not do what was asked. `status` 0: no answer came. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly fields: FieldFaults;
  readonly retryAfterSeconds: number | null;
  /** Why a session is over; null where the service does not say. */
  readonly reason: string | null;

  constructor(
    status: number,
    code: string,
    message: string,
    more: {
      readonly fields?: FieldFaults;
      readonly retryAfterSeconds?: number | null;
      readonly reason?: string | null;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = more.fields ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
    this.reason = more.reason ?? null;
  }
}

export const unreachable = (): ApiError => new ApiError(0, 'unreachable', 'Berth did not respond');

/** For a request that may have been carried out all the same. */
export const unanswered = (): ApiError => new ApiError(0, 'unanswered', 'Berth did not respond');

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const faultsIn = (value: unknown): FieldFaults =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** Reads an error answer; any other body, as from a proxy in between, becomes an error of its status. */
export function errorOf(status: number, body: unknown, retryAfter: string | null): ApiError {
  const wire = isObject(body) ? body : {};
  const code = typeof wire['code'] === 'string' ? wire['code'] : `http_${status}`;
  const message =
    typeof wire['error'] === 'string' ? wire['error'] : `the service responded with status ${status}`;
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  const reason = typeof wire['reason'] === 'string' ? wire['reason'] : null;
  return new ApiError(status, code, message, { fields: faultsIn(wire['fields']), retryAfterSeconds, reason });
}

/** The service's words, which read on from a field's name, as a sentence of their own. */
export const sentence = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1).replace(/([^.!?])$/, '$1.');

/** Faults by field for a form: the service's own, and codes that are about one field. */
export function fieldFaults(error: ApiError): FieldFaults {
  if (error.code === 'name_taken') return { name: 'You already have a container with this name.' };
  return Object.fromEntries(Object.entries(error.fields).map(([name, words]) => [name, sentence(words)]));
}
