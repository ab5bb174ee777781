import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runProcess } from '../support/child.ts';
import { aFolderOf } from '../support/folder.ts';
import { aTree, build } from '../support/tree.ts';

// Stands for the service: it says what reaches it, and stops once it may, a moment later, so that one signal too many
// would still reach it.
const SERVER = `
import { existsSync } from 'node:fs';
const say = (word: unknown): void => console.log(JSON.stringify(word));
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    say(signal);
    signals += 1;
    if (signals === 2) process.exit(3);
    setInterval(() => {
      if (existsSync('may-stop')) setTimeout(() => process.exit(78), 200);
    }, 20);
  });
}
process.on('disconnect', () => {
  say('alone');
  process.exit();
});
say({ pid: process.pid, node: process.versions.node, args: process.argv.slice(2) });
`;

const root = aTree(t, { 'src/app/main/bin/server.ts': SERVER });
await build(t, root);

/** The launcher in a built checkout, and the first words of the service. */
async function launch(t: Test, command = ['node', 'scripts/start.mjs', '--flag']) {
  rmSync(path.join(root, 'may-stop'), { force: true });
  const launcher = runProcess(t, '/usr/bin/env', command, root);
  const service = JSON.parse(await launcher.line());
  t.teardown(() => {
    try {
      process.kill(service.pid, 'SIGKILL');
    } catch {}
  });
  return { launcher, service };
}

const groupOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').split(' ')[3] ?? '';

const letStop = () => writeFileSync(path.join(root, 'may-stop'), '');

t.test('when all is fresh, nothing comes before the service, on a modern Node.js', async (t) => {
  const { service } = await launch(t);
  t.ok(Number.parseInt(service.node, 10) >= 22, service.node);
  t.same(service.args, ['--flag']);
});

t.test(
  'a signal reaches the service once however often it comes, and its exit code is passed on',
  async (t) => {
    const { launcher } = await launch(t);
    launcher.process.kill('SIGINT');
    launcher.process.kill('SIGTERM');
    launcher.process.kill('SIGINT');
    t.match(await launcher.line(), /^"SIG(TERM|INT)"$/, 'of two at once the system chooses the first');
    letStop();
    t.equal(await launcher.ended, 78);
    await t.rejects(launcher.line(), 'no other signal came');
  },
);

t.test('a second signal, a second later, reaches it too; a closed terminal stops it', async (t) => {
  const { launcher } = await launch(t);
  launcher.process.kill('SIGHUP');
  t.equal(await launcher.line(), '"SIGTERM"');
  const second = launcher.line();
  const repeated = setInterval(() => launcher.process.kill('SIGTERM'), 100);
  t.equal(await second.finally(() => clearInterval(repeated)), '"SIGTERM"');
  t.equal(await launcher.ended, 3);
});

t.test('a Ctrl-C in the terminal does not reach the service past the launcher', async (t) => {
  const { service, launcher } = await launch(t);
  t.not(groupOf(service.pid), groupOf(launcher.process.pid ?? 0));
});

t.test('the service learns that its launcher was killed', async (t) => {
  const { launcher } = await launch(t);
  launcher.process.kill('SIGKILL');
  await once(launcher.process, 'exit');
  t.equal(await launcher.line(), '"alone"');
});

const NPM = ['npm', '--silent', 'start'];

t.test('a stop of npm stops the service in order, and npm waits for that', async (t) => {
  const { launcher } = await launch(t, NPM);
  launcher.process.kill('SIGTERM');
  t.equal(await launcher.line(), '"SIGTERM"');
  letStop();
  t.equal(await launcher.ended, 78);
});

t.test('the service stops when npm was killed', async (t) => {
  const { launcher } = await launch(t, NPM);
  launcher.process.kill('SIGKILL');
  t.equal(await launcher.line(), '"SIGTERM"');
});

// Stands for npm, which starts programs of packages: one that does not listen.
const INSTALLER = `#!/bin/sh
sh -c 'trap "" TERM INT HUP; while :; do sleep 0.2; done' "$PWD" &
echo "$!" > installing
wait
`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} during the installation leaves no process`, async (t) => {
    const root = aFolderOf(t, { 'bin/npm': INSTALLER });
    chmodSync(path.join(root, 'bin/npm'), 0o755);
    for (const name of ['scripts', 'package.json', 'package-lock.json'])
      cpSync(name, path.join(root, name), { recursive: true });
    const searched = `PATH=${path.join(root, 'bin')}:${process.env['PATH']}`;
    const launcher = runProcess(t, '/usr/bin/env', [searched, 'node', 'scripts/start.mjs'], root);
    const installing = path.join(root, 'installing');
    while (!existsSync(installing) || readFileSync(installing, 'utf8') === '') await sleep(20);
    const pid = Number(readFileSync(installing, 'utf8'));
    t.ok(isThere(pid));
    launcher.process.kill(signal);
    t.equal(await launcher.ended, signal === 'SIGINT' ? 130 : 143);
    t.ok(await goes(pid));
  });
}

const isThere = (pid: number): boolean => existsSync(`/proc/${pid}/cmdline`);

async function goes(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 250 && isThere(pid); tries += 1) await sleep(20);
  return !isThere(pid);
}
