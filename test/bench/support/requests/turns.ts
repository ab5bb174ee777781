/** The rates of several requests under the same load, in turns. */
import { load, median } from '../load.ts';

type Target = { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

const SECONDS = 3;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 32;

/** Requests a second: of each, the median of the rounds. */
export async function ratesOf<Name extends string>(
  targets: Readonly<Record<Name, Target>>,
  rounds: number,
): Promise<Readonly<Record<Name, number>>> {
  const all = Object.entries<Target>(targets);
  const rates = new Map<string, number[]>(all.map(([name]) => [name, []]));
  const rate = async ({ url, headers = {} }: Target, seconds: number): Promise<number> =>
    (await load({ url, headers, seconds, connections: CONNECTIONS })).requestsPerSecond;
  for (const [, target] of all) await rate(target, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, target] of round % 2 === 0 ? all : all.toReversed())
      rates.get(name)?.push(await rate(target, SECONDS));
  }
  const medians = [...rates].map(([name, each]) => [name, median(each)]);
  return Object.fromEntries(medians) as Record<Name, number>;
}
