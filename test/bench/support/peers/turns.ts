/** Rounds in which the peers take turns, each time in another order. */
import type { Side } from '../report/rows.ts';

/** What each side measured, without the warm-up. */
export type Taken<T> = Partial<Record<Side, T[]>>;

const WARM_UP = 1;

export async function takeTurns<T>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side, round: number) => Promise<T>,
): Promise<Taken<T>> {
  const taken: Taken<T> = {};
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const side of inOrderOf(sides, round + WARM_UP)) {
      const measured = await measure(side, round);
      if (round < 0) continue;
      taken[side] = [...(taken[side] ?? []), measured];
    }
  }
  return taken;
}

/** Every second round backwards, so that no side always follows the same one. */
function inOrderOf(sides: readonly Side[], round: number): readonly Side[] {
  const first = round % sides.length;
  const rotated = [...sides.slice(first), ...sides.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

/** A value of each side. */
export const each = <T>(
  taken: Taken<T>,
  value: (all: readonly T[]) => number,
): Partial<Record<Side, number>> =>
  Object.fromEntries(Object.entries(taken).map(([side, all]) => [side, value(all)]));
