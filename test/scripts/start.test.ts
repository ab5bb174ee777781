import { EventEmitter, once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { SERVER } from '../../scripts/lib/build.mjs';
import { forwardSignals } from '../../scripts/lib/service.mjs';
import { goes, isThere, moduleAt, runModule, runProcess } from '../support/child.ts';
import { waitFor } from '../support/patience.ts';
import { aTree, aTreeWithoutDependencies } from '../support/tree.ts';

// In place of the service: prints its signals, and stops on request.
const SERVICE = `
const say = (word) => console.log(JSON.stringify(word));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => say(signal));
process.on('SIGUSR2', () => process.exit(78));
process.on('disconnect', () => {
  say('alone');
  process.exit();
});
say({ pid: process.pid, node: process.versions.node, args: process.argv.slice(2) });
`;

/** The launcher in a checkout with only the build, and the service's first output. */
async function launch(t: Test, command = ['node', 'scripts/start.mjs', '--flag']) {
  const root = aTree(t, { [SERVER]: SERVICE });
  const launcher = runProcess(t, '/usr/bin/env', command, root);
  const service = JSON.parse(await launcher.line());
  t.teardown(() => {
    try {
      process.kill(service.pid, 'SIGKILL');
    } catch {}
  });
  const endService = (): void => void process.kill(service.pid, 'SIGUSR2');
  return { launcher, service, endService };
}

const groupOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').split(' ')[3] ?? '';

t.test(
  'the service runs on a modern Node.js, gets the signals, and its exit code is passed on',
  async (t) => {
    const { launcher, service, endService } = await launch(t);
    t.ok(Number.parseInt(service.node, 10) >= 22, service.node);
    t.same(service.args, ['--flag']);
    t.not(groupOf(service.pid), groupOf(launcher.process.pid ?? 0), 'a Ctrl-C does not bypass the launcher');
    launcher.process.kill('SIGINT');
    t.equal(await launcher.line(), '"SIGINT"');
    endService();
    t.equal(await launcher.ended, 78);
  },
);

t.test('a repeated signal is sent once, and again a second later', async (t) => {
  const sent: NodeJS.Signals[] = [];
  const signals = new EventEmitter();
  let nowMs = 5_000;
  const stop = forwardSignals((signal) => sent.push(signal), { signals, nowMs: () => nowMs });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT']) signals.emit(signal, signal);
  nowMs += 999;
  signals.emit('SIGINT', 'SIGINT');
  t.same(sent, ['SIGINT']);
  nowMs += 1;
  signals.emit('SIGHUP', 'SIGHUP');
  t.same(sent, ['SIGINT', 'SIGTERM'], 'a closed terminal stops it');
  stop();
  nowMs += 5_000;
  t.notOk(signals.emit('SIGINT', 'SIGINT'));
});

t.test('the service notices that its launcher was killed', async (t) => {
  const { launcher } = await launch(t);
  launcher.process.kill('SIGKILL');
  await once(launcher.process, 'exit');
  t.equal(await launcher.line(), '"alone"');
});

const NPM = ['npm', '--silent', 'start'];

t.test('stopping npm stops the service in order, and npm waits', async (t) => {
  const { launcher, endService } = await launch(t, NPM);
  launcher.process.kill('SIGTERM');
  t.equal(await launcher.line(), '"SIGTERM"');
  endService();
  t.equal(await launcher.ended, 78);
});

t.test('the service stops when npm is killed', async (t) => {
  const { launcher } = await launch(t, NPM);
  launcher.process.kill('SIGKILL');
  t.equal(await launcher.line(), '"SIGTERM"');
});

// In place of npm, which starts packages' programs: one that ignores signals.
const INSTALLER = `#!/bin/sh
sh -c 'trap "" TERM INT HUP; while :; do sleep 0.2; done' "$PWD" >/dev/null 2>&1 &
echo "$!" > installing
wait
`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} during the installation leaves no process`, async (t) => {
    const root = aTreeWithoutDependencies(t, { 'bin/npm': INSTALLER });
    chmodSync(path.join(root, 'bin/npm'), 0o755);
    const searched = `PATH=${path.join(root, 'bin')}:${process.env['PATH']}`;
    const launcher = runProcess(t, '/usr/bin/env', [searched, 'node', 'scripts/start.mjs'], root);
    const installing = path.join(root, 'installing');
    await waitFor(() => existsSync(installing) && readFileSync(installing, 'utf8') !== '');
    const pid = Number(readFileSync(installing, 'utf8'));
    t.ok(isThere(pid));
    launcher.process.kill(signal);
    t.equal(await launcher.ended, signal === 'SIGINT' ? 130 : 143);
    t.ok(await goes(pid));
  });
}

t.test('a program that does not end within five seconds of a stop is killed', async (t) => {
  const stopped = runModule(
    t,
    `import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { mock } from 'node:test';
    import { watched } from ${moduleAt('scripts/lib/command.mjs')};
    mock.timers.enable({ apis: ['setTimeout'] });
    const stubborn = ['-c', 'trap "" TERM; echo; exec sleep infinity'];
    const child = watched(() => spawn('sh', stubborn, { stdio: ['ignore', 'pipe', 'inherit'], detached: true }));
    await once(child.stdout, 'data');
    process.once('SIGTERM', () => {
      mock.timers.tick(4_999);
      console.log(child.pid);
      mock.timers.tick(1);
    });
    process.kill(process.pid, 'SIGTERM');`,
  );
  const pid = Number(await stopped.line());
  t.equal(await stopped.ended, 143);
  t.ok(await goes(pid));
});

t.test('a stop during the start of a program ends that program', async (t) => {
  const stopped = runModule(
    t,
    `import { spawn } from 'node:child_process';
    import { watched } from ${moduleAt('scripts/lib/command.mjs')};
    const child = watched(() => {
      process.kill(process.pid, 'SIGTERM');
      return spawn('sleep', ['infinity']);
    });
    console.log(child.pid);`,
  );
  const pid = Number(await stopped.line());
  t.equal(await stopped.ended, 143);
  t.ok(await goes(pid));
});
