/**
 * Uses of a container that keep it from being idle. Each is on record with its last time; one that goes on is recorded
 * again every few seconds.
 */
export const ACTIVITY_KINDS = [
  'terminal',
  'input',
  'output',
  'command',
  'file',
  'process',
  'ssh',
  'port',
  'processor',
] as const;

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** The last use of one kind. Text, because a newer version may have written kinds unknown here. */
export type Activity = { readonly kind: string; readonly lastAt: Date };

/** How often a use that goes on is recorded, and how long its record counts as the present. */
export const RECORDED_EVERY_SECONDS = 5;
const PRESENT_SECONDS = 3 * RECORDED_EVERY_SECONDS;

/** A container above this has a program at work, though nobody uses it through the service: 2 % of a core. */
export const BUSY_MILLICORES = 20;

const WORDS: { readonly [K in ActivityKind]: readonly [now: string, last: string] } = {
  terminal: ['a terminal is open', 'an open terminal'],
  input: ['somebody types', 'terminal input'],
  output: ['a terminal has output', 'terminal output'],
  command: ['a command runs', 'a command'],
  file: ['a file is transferred', 'a file transfer'],
  process: ['a process runs', 'a process'],
  ssh: ['an SSH connection is open', 'an SSH connection'],
  port: ['a port is in use', 'a port'],
  processor: ['a program uses the processor', 'a program that used the processor'],
};

const wordsOf = (kind: string): readonly [now: string, last: string] =>
  WORDS[kind as ActivityKind] ?? [`${kind} is in use`, kind];

export const isPresent = ({ lastAt }: Activity, now: Date): boolean =>
  now.getTime() - lastAt.getTime() <= PRESENT_SECONDS * 1_000;

/** What is going on now, such as `a terminal is open and a command runs`; null when nothing is. */
export function presentWords(activity: readonly Activity[], now: Date): string | null {
  const present = activity.filter((one) => isPresent(one, now)).map(({ kind }) => wordsOf(kind)[0]);
  return present.length === 0 ? null : present.join(' and ');
}

/** The last use, such as `a command at 2026-03-01T12:00:00.000Z`; null when there was none. */
export function lastWords(activity: readonly Activity[]): string | null {
  const [last] = [...activity].sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  return last === undefined ? null : `${wordsOf(last.kind)[1]} at ${last.lastAt.toISOString()}`;
}
