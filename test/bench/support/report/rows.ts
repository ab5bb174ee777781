/** The results of any bench, as rows of one table. */

/** `base`: the bare layer below, whichever the row names. */
export const SIDES = ['base', 'client', 'ttyd', 'wetty', 'berth'] as const;
export type Side = (typeof SIDES)[number];

/** What Berth's value may be at most, or must be at least, as a multiple of a side's. */
type Target = { readonly of: Side } & ({ readonly atMost: number } | { readonly atLeast: number });

export type Row = {
  /** With the unit. */
  readonly what: string;
  readonly values: Readonly<Partial<Record<Side, number>>>;
  readonly digits: number;
  readonly targets: readonly Target[];
  /** A condition besides the targets. */
  readonly condition?: { readonly text: string; readonly isMet: boolean };
  /** Why there is no value of Berth. */
  readonly failure?: string;
};

/** Why a side was not measured. */
export type Absences = Readonly<Partial<Record<Side, string>>>;

const HEADS: Readonly<Record<Side, string>> = {
  base: 'base',
  client: "engine's client",
  ttyd: 'ttyd',
  wetty: 'wetty',
  berth: 'Berth',
};

export function markdown(rows: readonly Row[], absences: Absences = {}): string {
  const heads = ['', ...SIDES.map((side) => HEADS[side]), 'of base', 'of ttyd', 'target', ''];
  const lines = [heads, heads.map(() => '---'), ...rows.map(cellsOf)];
  const notes = SIDES.flatMap((side) => absences[side] ?? []).map((why) => `- ${why}`);
  return [
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

function cellsOf(row: Row): readonly string[] {
  const values = SIDES.map((side) => row.values[side]?.toFixed(row.digits) ?? '');
  const ratios = (['base', 'ttyd'] as const).map((side) => ratio(row, side)?.toFixed(2) ?? '');
  const targets = row.targets.map(textOf);
  const wanted = [...targets, ...(row.condition === undefined ? [] : [row.condition.text])].join('; ');
  return [row.what, ...values, ...ratios, wanted, verdict(row)];
}

const textOf = (target: Target): string => {
  const limit = 'atMost' in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
  return `${limit} of ${HEADS[target.of]}`;
};

/** Berth's value as a multiple of a side's. */
function ratio({ values }: Row, side: Side): number | null {
  const [one, other] = [values.berth, values[side]];
  return one === undefined || other === undefined ? null : one / other;
}

/** A missed target counts before one that could not be measured. */
function verdict(row: Row): string {
  if (row.failure !== undefined) return `failed: ${row.failure}`;
  const isMissed = row.targets.some((target) => isMet(row, target) === false);
  if (isMissed || row.condition?.isMet === false) return 'missed';
  const unknown = row.targets.filter((target) => isMet(row, target) === null);
  return unknown.length === 0 ? '' : `not measured: ${unknown.map(({ of }) => HEADS[of]).join(', ')}`;
}

/** Null when the other side was not measured. */
function isMet(row: Row, target: Target): boolean | null {
  const value = ratio(row, target.of);
  if (value === null) return null;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

/** Whether every target was measured and met. */
export const allMet = (rows: readonly Row[]): boolean => rows.every((row) => verdict(row) === '');

/** A row for a measurement that threw; prints the error. */
export function failed(what: string, error: unknown): Row {
  console.error(error);
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return { what, values: {}, digits: 0, targets: [], failure: reason.replaceAll('|', '/') };
}
