const MAX_NAME = 64;
const FALLBACK_NAME = 'agent';

/** The name that a machine gives itself, as a container's name. */
export function cleanAgentName(given: string): string {
  const cleaned = given
    .replace(/[^a-zA-Z0-9-]+/g, '-')
    .slice(0, MAX_NAME)
    .replace(/^-+|-+$/g, '');
  return cleaned === '' ? FALLBACK_NAME : cleaned;
}

/** The n-th name to try, from 1: the wanted one, then with a number that may make it free. */
export const agentNameAt = (wanted: string, n: number): string =>
  n === 1 ? wanted : `${wanted.slice(0, MAX_NAME - `-${n}`.length)}-${n}`;

/** Whether the present name is the wanted one, perhaps with a number that made it free. */
export function isNameOf(present: string, wanted: string): boolean {
  const n = /-(\d+)$/.exec(present)?.[1];
  return present === wanted || (n !== undefined && present === agentNameAt(wanted, Number(n)));
}
