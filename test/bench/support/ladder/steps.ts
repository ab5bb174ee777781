/** Processor time of a server for one unit of work, in µs: of the process, and of the kernel in its name. */
import { median } from '../load.ts';
import type { Cpu, Server } from '../servers.ts';

export type Step = { readonly name: string; readonly server: Server };
type Cost = { readonly userUs: number; readonly systemUs: number };

/** The costs of each step: in turns, and in the reverse order every other round. `work` returns its units. */
export async function costsOf(
  steps: readonly Step[],
  rounds: number,
  work: (step: Step) => Promise<number>,
): Promise<ReadonlyMap<string, readonly Cost[]>> {
  const all = new Map<string, Cost[]>(steps.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) {
      const before = await step.server.cpu();
      const units = await work(step);
      const cost = perUnit(before, await step.server.cpu(), units);
      if (round >= 0) all.get(step.name)?.push(cost);
    }
  }
  return all;
}

const perUnit = (before: Cpu, after: Cpu, units: number): Cost => ({
  userUs: ((after.userMs - before.userMs) * 1000) / units,
  systemUs: ((after.systemMs - before.systemMs) * 1000) / units,
});

/** Medians, and the ratio of the sums to those of `base`, each round's by itself. */
export function ladderTable(costs: ReadonlyMap<string, readonly Cost[]>, base: string): string {
  const sums = (name: string) => costs.get(name)?.map(({ userUs, systemUs }) => userUs + systemUs) ?? [];
  const ofBase = sums(base);
  const rows = [...costs].map(([name, each]) => {
    const figures = [
      median(each.map(({ userUs }) => userUs)),
      median(each.map(({ systemUs }) => systemUs)),
      median(sums(name)),
    ].map((us) => us.toFixed(1));
    const ratio = median(sums(name).map((sum, round) => sum / (ofBase[round] ?? Number.NaN)));
    return `| ${[name, ...figures, ratio.toFixed(2)].join(' | ')} |`;
  });
  return ['| µs | process | kernel | sum | of base |', '|---|---|---|---|---|', ...rows].join('\n');
}
