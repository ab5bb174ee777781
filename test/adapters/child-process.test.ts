import t from 'tap';
import { runCommand, startChild } from '../../src/adapters/child-process.ts';
import { processes } from '../../src/adapters/docker/host/host-commands.ts';
import { moduleAt, runModule } from '../support/child.ts';
import { eventually } from '../support/patience.ts';

const MODULE = moduleAt('src/adapters/child-process.ts');

/** A process that runs a program while something is short, then again when it is not. Prints the exit codes. */
const inShortage = (shortage: string, end: string): string => `
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { runCommand } from ${MODULE};
const codes = [];
const attempt = async () => codes.push((await runCommand('true', [])).code);
${shortage}
for (let n = 0; n < 3; n += 1) {
  await attempt();
  await new Promise((resolve) => setImmediate(resolve));
}
${end}
await attempt();
console.log(JSON.stringify(codes));
`;

const NO_DESCRIPTORS = `
spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=64']);
const open = [];
try {
  for (;;) open.push(openSync('/dev/null'));
} catch {}
`;

// Root has no limit of processes, so the process becomes somebody else.
const NO_PROCESSES = `
process.setgid?.(64_999);
process.setuid?.(64_999);
spawnSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1000']);
`;

t.test('a program that cannot be started for lack of descriptors or processes is code 127', async (t) => {
  const descriptors = inShortage(NO_DESCRIPTORS, 'for (const each of open) closeSync(each);');
  t.same(JSON.parse(await runModule(t, descriptors).line()), [127, 127, 127, 0], 'no descriptors');
  const processes = inShortage(NO_PROCESSES, '');
  t.same(JSON.parse(await runModule(t, processes).line()), [127, 127, 127, 127], 'no processes');
  t.match(await runCommand('/nonexistent', []), { code: 127, stderr: /ENOENT/ });
});

const marked = async (marker: string): Promise<number> =>
  (await processes()).filter(({ argv }) => argv.includes(marker)).length;

const settles = async (marker: string, count: number): Promise<boolean> =>
  (await eventually(
    () => marked(marker),
    (number) => number === count,
    { everyMs: 50 },
  )) === count;

t.test('a signal ends a program with all that it started, also one that ignores SIGTERM', async (t) => {
  const marker = `family-${process.pid}`;
  const family = `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 1; done' ${marker} & sh -c 'sleep 60; :' ${marker}; wait`;
  const stopping = new AbortController();
  const ended = runCommand('sh', ['-c', family, marker], { signal: stopping.signal });
  t.ok(await settles(marker, 3));
  stopping.abort();
  t.equal((await ended).code, 137);
  t.ok(await settles(marker, 0));
  await t.rejects(startChild('true', [], { signal: stopping.signal }), { name: 'AbortError' });
});

t.test('the end of the process ends what it may leave to nobody', async (t) => {
  const marker = `orphan-${process.pid}`;
  const code = `
import { startChild } from ${MODULE};
const { signal } = new AbortController();
await startChild('sh', ['-c', 'sleep 60; :', '${marker}'], { signal, stdio: 'ignore' });
process.exit(3);`;
  t.equal(await runModule(t, code).ended, 3);
  t.ok(await settles(marker, 0));
});
