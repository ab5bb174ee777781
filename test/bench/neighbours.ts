/**
 * The effect on a neighbour of a tenant who takes everything available. Medians before each attack and during it, and
 * their ratio. Arguments: parts of the attacks' names, all by default.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { attackOf } from './support/neighbours/attacker.ts';
import { ATTACKS } from './support/neighbours/attacks.ts';
import { aScene, MEASURES, watcherOf } from './support/neighbours/scene.ts';
import { loadNow } from './support/say.ts';

const WANTED = 3;
/** Time for an attack to reach its height. */
const RISE_MS = 3_000;
const names = process.argv.slice(2);

const rows: string[] = [];
let missed = 0;
const { attacker, neighbour, stop } = await aScene();
try {
  const watcher = await watcherOf(neighbour);
  for (const name of Object.keys(ATTACKS)) {
    if (names.length > 0 && !names.some((wanted) => name.includes(wanted))) continue;
    const before = await watcher.measure();
    const end = await attackOf(name, attacker);
    await delay(RISE_MS);
    const during = await watcher.measure().finally(end);
    const cells = MEASURES.map((measure) => {
      const ratio = during[measure] / before[measure];
      if (ratio > WANTED) missed += 1;
      return `${before[measure].toFixed(1)} → ${during[measure].toFixed(1)} (${ratio.toFixed(1)}${ratio > WANTED ? ', missed' : ''})`;
    });
    rows.push(`| ${[name, ...cells].join(' | ')} |`);
    console.log(`${rows.at(-1)}, at a load of ${loadNow()}`);
  }
  await watcher.close();
} finally {
  await stop();
}
console.log(
  `\n| attack | ${MEASURES.map((one) => `${one} ms`).join(' | ')} |\n|${'---|'.repeat(MEASURES.length + 1)}`,
);
for (const row of rows) console.log(row);
process.exitCode = missed === 0 ? 0 : 1;
