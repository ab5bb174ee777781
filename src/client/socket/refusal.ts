import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { NO_RETRIES } from '../request/retry.ts';

/** Answers without an upgrade: it would be accepted. */
const UPGRADE_REQUIRED = 426;

/** Why the service would refuse a WebSocket here, which browsers do not show; null when it would not. */
export async function answerWithoutUpgrade(requester: Requester, path: string): Promise<BerthError | null> {
  try {
    await requester.send(path, { retries: NO_RETRIES });
  } catch (failure) {
    if (!(failure instanceof BerthError)) throw failure;
    return failure.status === UPGRADE_REQUIRED ? null : failure;
  }
  return null;
}

/** Whether a refusal ends by itself. */
export const passes = ({ status, retryAfterSeconds }: BerthError): boolean =>
  (status === 429 || status === 503) && retryAfterSeconds !== null;

/** The same, but null for refusals that pass by themselves. */
export async function refusalOf(requester: Requester, path: string): Promise<BerthError | null> {
  const refusal = await answerWithoutUpgrade(requester, path);
  const isFinal = refusal !== null && refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429;
  return isFinal ? refusal : null;
}
