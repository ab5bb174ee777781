import { retryDelayMs } from '../backoff.ts';
import type { BerthError } from './errors.ts';

export type RetryPolicy = {
  /** Tries after the first. */
  readonly retries: number;
  /** Delay before the first retry after a lost connection; it doubles up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** A refusal that asks for a longer wait is final. */
  readonly maxWaitMs: number;
};

export const CLIENT_RETRIES: RetryPolicy = { retries: 6, firstMs: 250, maxMs: 5_000, maxWaitMs: 60_000 };

export const NO_RETRIES: RetryPolicy = { ...CLIENT_RETRIES, retries: 0 };

/**
 * How long to wait before a request that may be repeated is sent again, in ms; null when it is not. `attempt` is 0
 * after the first try; `random` is from 0 to 1.
 */
export function retryWaitMs(
  error: BerthError,
  attempt: number,
  policy: RetryPolicy,
  random: number,
): number | null {
  if (attempt >= policy.retries) return null;
  const delayMs = retryDelayMs(attempt, random, policy);
  if (isLostConnection(error) || isBusyKey(error)) return delayMs;
  if ((error.status !== 429 && error.status !== 503) || error.retryAfterSeconds === null) return null;
  const waitMs = error.retryAfterSeconds * 1000;
  return waitMs > policy.maxWaitMs ? null : Math.max(waitMs, delayMs);
}

const NOT_BEGUN: ReadonlySet<string> = new Set(['agent_elsewhere', 'agent_unresponsive']);

/** Codes by which the service says that it has not begun: any such request may be sent again. */
export const isNotBegun = ({ status, code }: BerthError): boolean => status === 503 && NOT_BEGUN.has(code);

/** No answer within the time limit is none: a repeat would take as long again. */
const isLostConnection = ({ status, cause }: BerthError): boolean =>
  status === 0 && (cause as Partial<Error> | undefined)?.name !== 'TimeoutError';

/** The first of two requests with one key is still in progress. */
const isBusyKey = ({ code }: BerthError): boolean => code === 'idempotency_key_busy';
