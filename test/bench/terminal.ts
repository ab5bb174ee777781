/**
 * Berth's overhead over the engine's own terminals. Both sides run the same command line in the same containers and
 * alternate. Arguments: parts, all by default, and `rounds=9`, `idle=1000`, `lines=1000000` of output a round. With `TEST_KUBERNETES`, which `npm run
 * test:kubernetes -- --cluster` prints, in that cluster: `echo` and `throughput` alone.
 */
import { given, namedSections } from './support/arguments.ts';
import { loadNow } from './support/say.ts';
import { agent } from './support/terminals/agents.ts';
import { aClusterScene } from './support/terminals/cluster-scene.ts';
import { echo, relay } from './support/terminals/echo.ts';
import { fair, idle } from './support/terminals/many.ts';
import { LINES, stopped, throughput } from './support/terminals/output.ts';
import { aScene, type Figure, type Part } from './support/terminals/scene.ts';

// Parts that increase the service's memory come last.
const PARTS: Readonly<Record<string, Part>> = { relay, echo, throughput, agent, fair, stopped, idle };

const IN_CLUSTER = ['echo', 'throughput'];

const isInCluster = process.env['TEST_KUBERNETES'] !== undefined;
const options = {
  rounds: given('rounds', 9),
  idle: given('idle', 1_000),
  lines: given('lines', LINES),
  echoRatio: isInCluster ? 1.7 : 1.5,
};
const named = namedSections(isInCluster ? IN_CLUSTER : Object.keys(PARTS));

const scene = isInCluster ? await aClusterScene() : await aScene();
const all: Figure[] = [];
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (!named.includes(name)) continue;
    console.log(`${name}, at a load of ${loadNow()}`);
    const figures = await part(scene, options);
    all.push(...figures);
    for (const { what, bare, berth } of figures) console.log(`  ${what}: ${bare ?? '-'}; ${berth}`);
    console.log(`  at a load of ${loadNow()}`);
  }
} finally {
  await scene.stop();
}
console.log('\n| | engine | Berth | ratio | wanted | |\n|---|---|---|---|---|---|');
for (const { what, bare, berth, ratio, wanted, isMet } of all) {
  const cells = [what, bare ?? '', berth, ratio?.toFixed(2) ?? '', wanted, isMet ? '' : 'missed'];
  console.log(`| ${cells.join(' | ')} |`);
}
process.exitCode = all.every(({ isMet }) => isMet) ? 0 : 1;
