/** How a connection ended, or why there was none. */
export type ConnectionEnd =
  /** The service answered the upgrade with a status. `words` are its error message. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string | null;
      readonly words: string;
      readonly retryAfterSeconds: number | null;
    }
  /** The service closed it. `reason`: see `CloseReason`, or a newer service's word. */
  | { readonly kind: 'closed'; readonly reason: string; readonly words: string }
  /** The line broke, or the service could not be reached. */
  | { readonly kind: 'broken'; readonly words: string };

export type NextTry =
  | { readonly kind: 'again'; readonly delayMs: number }
  /** Waiting cannot help. */
  | { readonly kind: 'end'; readonly exitCode: number; readonly words: string };

/** The agent's exit codes. The unit that `berth agent install` writes does not start it again after these. */
export const EXIT = {
  unavailable: 69,
  replaced: 75,
  forgotten: 76,
  notPermitted: 77,
  configuration: 78,
} as const;

const FIRST_MS = 500;
const MAX_DELAY_MS = 15_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** A service that restarts is back soon. */
const RESTART_MS = 1_000;
/** After a stop by a user: long enough to be seen, and back within 15 seconds. */
const STOPPED_MS = 5_000;

const CODES_THAT_STAY: { readonly [code: string]: string } = {
  agent_limit_reached: 'delete an agent that is not needed, or ask for a larger tier',
};

/**
 * What follows. `failures` counts the tries since the last connection that worked; `random` is from 0 to 1, so that
 * the agents of a restarted service do not come back in step.
 */
export function nextTry(end: ConnectionEnd, failures: number, random: number): NextTry {
  switch (end.kind) {
    case 'refused':
      return afterRefusal(end, failures, random);
    case 'closed':
      return afterClose(end.reason, failures, random);
    case 'broken':
      return { kind: 'again', delayMs: backoffMs(failures, random) };
  }
}

function afterRefusal(
  { status, code, words, retryAfterSeconds }: Extract<ConnectionEnd, { kind: 'refused' }>,
  failures: number,
  random: number,
): NextTry {
  if (status === 401 || status === 403)
    return {
      kind: 'end',
      exitCode: EXIT.notPermitted,
      words: `the service refuses the token: ${words}. Give the agent a new one with scope write.`,
    };
  if (status === 400 || status === 426)
    return { kind: 'end', exitCode: EXIT.configuration, words: `the service does not understand: ${words}` };
  const hint = status === 409 && code !== null ? CODES_THAT_STAY[code] : undefined;
  if (hint !== undefined) return { kind: 'end', exitCode: EXIT.unavailable, words: `${words}: ${hint}` };
  const askedMs = Math.min(MAX_RETRY_AFTER_MS, (retryAfterSeconds ?? 0) * 1_000);
  return { kind: 'again', delayMs: Math.max(askedMs, backoffMs(failures, random)) };
}

function afterClose(reason: string, failures: number, random: number): NextTry {
  if (reason === 'replaced')
    return { kind: 'end', exitCode: EXIT.replaced, words: 'another agent with the same id has connected' };
  if (reason === 'forgotten')
    return {
      kind: 'end',
      exitCode: EXIT.forgotten,
      words: 'this machine was deleted in Berth: start the agent again to add it as a new one',
    };
  if (reason === 'stopped') return { kind: 'again', delayMs: Math.round(STOPPED_MS * (1 + random)) };
  if (reason === 'restarting') return { kind: 'again', delayMs: Math.round(RESTART_MS * (1 + 2 * random)) };
  return { kind: 'again', delayMs: backoffMs(failures, random) };
}

/** Doubles up to the limit; the upper half is random. */
function backoffMs(failures: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_MS * 2 ** Math.min(failures, 20));
  return Math.round(full / 2 + (full / 2) * random);
}
