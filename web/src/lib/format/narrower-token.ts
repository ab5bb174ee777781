import type { Scope } from '../../api/types.ts';

const SCOPES: readonly Scope[] = ['read', 'write', 'admin'];
const MINUTE_MS = 60_000;

type Life = readonly [minutes: string, label: string];

const LIVES: readonly Life[] = [
  ['30', '30 minutes'],
  ['60', '1 hour'],
  ['480', '8 hours'],
  ['1440', '1 day'],
  ['10080', '7 days'],
  ['43200', '30 days'],
];

/** The scopes that a token below one with these may have: each includes those before it. */
export const scopesWithin = (scopes: readonly Scope[]): readonly Scope[] =>
  SCOPES.slice(0, Math.max(...scopes.map((scope) => SCOPES.indexOf(scope))) + 1);

/** How long a token below one may live, shortest first; '' is as long as that one. */
export const narrowerLives = (endsAt: string | null, now: Date): readonly Life[] => [
  ...LIVES.filter(
    ([minutes]) => endsAt === null || now.getTime() + Number(minutes) * MINUTE_MS <= Date.parse(endsAt),
  ),
  ['', 'As long as its parent token'],
];
