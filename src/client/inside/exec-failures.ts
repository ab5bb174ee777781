import { BerthError } from '../request/errors.ts';

export const isSignedOut = (error: unknown): boolean => error instanceof BerthError && error.status === 401;

/** Whether a refusal does not pass by itself. */
export const isFinal = (error: unknown): boolean =>
  error instanceof BerthError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** What a proxy answers while the service is away. */
const OF_A_PROXY: readonly string[] = ['http_502', 'http_503', 'http_504'];
/** A wrong name, or no trusted TLS. */
const WRONG_ADDRESS = /^(ENOTFOUND|EPROTO|CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether a service does not answer, or says when it can start a command. */
export const isAway = (error: unknown): error is BerthError =>
  error instanceof BerthError &&
  ((error.status === 0 && !WRONG_ADDRESS.test(systemCode(error.cause))) ||
    (error.status === 503 && error.retryAfterSeconds !== null) ||
    OF_A_PROXY.includes(error.code));

type Caused = { readonly code?: unknown; readonly cause?: unknown };

/** Of the fault under `fetch`; empty for none. */
function systemCode(cause: unknown): string {
  const { code, cause: under } = (cause ?? {}) as Caused;
  if (under !== undefined) return systemCode(under);
  return typeof code === 'string' ? code : '';
}

export const endedByClient = (): BerthError =>
  new BerthError(0, 'command_ended', 'the command was ended by its client');

export const notOpened = (): BerthError => new BerthError(0, 'unreachable', 'the WebSocket was not opened');

export const broken = (reason = ''): BerthError =>
  new BerthError(
    0,
    'command_outcome_unknown',
    reason === ''
      ? 'the connection broke before the command ended'
      : `the service closed the connection before the command ended: ${reason}`,
  );

export const signedOut = (): BerthError => new BerthError(401, 'unauthorized', 'unauthorized');

export const miscounted = (): BerthError =>
  new BerthError(
    0,
    'command_outcome_unknown',
    'the service counts more input or signals than were sent: what the command has read is unknown',
  );
