import { BerthError, sentence } from '../api/errors.ts';
import type { Container } from '../api/types.ts';

/** A change of a container, which takes a while. */
export type Change = 'starting' | 'stopping' | 'deleting' | 'updating' | 'restoring';

/** The outcome of a change, as the container shows it. `reason`: the service's words; null without any. */
export type Outcome =
  | { readonly kind: 'done' | 'under_way' }
  | { readonly kind: 'failed'; readonly reason: string | null };

const SETTLED = new Set(['running', 'stopped', 'failed', 'deleted']);

/** Whether nothing is being done to a container now. */
export const isSettled = (status: Container['status']): boolean => SETTLED.has(status);

/** `now`: null when there is no such container any more. `wanted`: what an update was to make true. */
export function outcomeOf(change: Change, now: Container | null, wanted: Partial<Container> = {}): Outcome {
  if (now === null || now.status === 'deleted') {
    return change === 'deleting' ? { kind: 'done' } : { kind: 'failed', reason: null };
  }
  if (!isSettled(now.status)) return { kind: 'under_way' };
  return isAsRequested(change, now, wanted)
    ? { kind: 'done' }
    : { kind: 'failed', reason: now.status_reason };
}

function isAsRequested(change: Change, now: Container, wanted: Partial<Container>): boolean {
  switch (change) {
    case 'starting':
      return now.status === 'running';
    case 'stopping':
      return now.status === 'stopped';
    case 'updating':
      return Object.entries(wanted).every(([key, value]) => sameValue(now[key as keyof Container], value));
    case 'restoring':
      return true;
    case 'deleting':
      return false;
  }
}

const sameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Statuses of a proxy whose service did not answer it. */
const OF_A_PROXY = new Set([502, 504]);

/** Whether a failed request may have been carried out: no answer came, or one that does not say. */
export const isUnknown = (failure: unknown): boolean =>
  failure instanceof BerthError &&
  (failure.status === 0 ||
    OF_A_PROXY.has(failure.status) ||
    ['unavailable', 'http_503'].includes(failure.code));

const DONE: { readonly [C in Change]: string } = {
  starting: 'is running',
  stopping: 'is stopped',
  deleting: 'is deleted',
  updating: 'has its new settings',
  restoring: 'was restored with its /workspace',
};

const DOING: { readonly [C in Change]: string } = {
  starting: 'started',
  stopping: 'stopped',
  deleting: 'deleted',
  updating: 'changed',
  restoring: 'restored',
};

/** An agent's machine runs on when it is disconnected. */
const doing = (change: Change, { agent }: Named): string =>
  agent !== undefined && change === 'stopping' ? 'disconnected' : DOING[change];

type Named = Pick<Container, 'name' | 'agent'>;

export const doneWords = (change: Change, { name, agent }: Named): string =>
  agent !== undefined && change === 'stopping' ? `${name} is disconnected` : `${name} ${DONE[change]}`;
export const failedWords = (change: Change, named: Named): string =>
  `${named.name} could not be ${doing(change, named)}`;
export const unknownWords = (change: Change, named: Named): string =>
  `Could not confirm that ${named.name} was ${doing(change, named)}`;
export const underWayWords = (change: Change, named: Named): string =>
  `Still working on it: ${named.name} is being ${doing(change, named)}`;

/** The service's words for changes that did not come about, by what was to be done. */
const REASONS: Readonly<Record<string, Change>> = {
  'the engine could not start it': 'starting',
  'the engine could not stop it': 'stopping',
  'the engine could not remove it': 'deleting',
};

/** What went wrong with a container, in a sentence, and which change could be tried again; null when all is well. */
export function faultOf({
  status_reason: reason,
}: Container): { words: string; change: Change | null } | null {
  if (reason === null) return null;
  const change = REASONS[reason] ?? null;
  return {
    words: sentence(change === null ? reason : `could not be ${DOING[change]} by the engine`),
    change,
  };
}
