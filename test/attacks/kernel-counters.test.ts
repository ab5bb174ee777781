import { mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
// biome-ignore lint/style/noRestrictedImports: between two checks of the kernel shares by the service
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { dockerHost } from '../../src/adapters/docker/host/engine-host.ts';
import { dockerKernelShares } from '../../src/adapters/docker/kernel/kernel-shares.ts';
import { memoryStorage } from '../../src/adapters/memory/index.ts';
import { engineHostContract } from '../contract/containers/capacity/engine-host.ts';
import { kernelSharesContract } from '../contract/containers/kernel-shares.ts';
import { aTerminal, reader } from '../contract/terminals/terminal-backend.ts';
import { runProcess } from '../support/child.ts';
import { aSpec, runIn } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import {
  DESCRIPTORS_IN_FLIGHT,
  INOTIFY_INSTANCES,
  MESSAGE_QUEUES,
  ONE_INOTIFY,
  SURVEY,
} from '../support/engine/kernel-attacks.ts';
import { aPerson, aService, as, type Person } from '../support/service/service.ts';

/** So few that other processes on this machine, with higher limits, are not affected. */
const OPEN_FILES = 1_024;
const asked = { memory_mb: 256, cpu_shares: 200, disk_mb: 512 };

t.test('exhausted kernel counters', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  await lockMachine(t);
  const instance = await testInstance(t, engine, undefined, OPEN_FILES);
  const scene = await aScene(t, instance);
  await t.test(
    "with descriptors in flight exhausted, terminals open and their owner's container is stopped",
    (t) => inFlight(t, scene, '', (isExhausted) => terminalsOpen(t, scene, isExhausted)),
  );
  await t.test('hidden descriptors are noticed even when no process has their socket', (t) =>
    inFlight(t, scene, 'hidden', async () => {}),
  );
  for (const how of ['', 'nameless']) {
    await t.test(`message queues: the largest owner's container is stopped ${how}`, (t) =>
      queues(t, scene, how),
    );
  }
  await t.test('inotify: neighbours and the host still get instances', (t) => inotify(t, scene));
  await t.test("the watcher's figures are right", (t) => contract(t, scene));
});

/** Two runs on one machine share these counters, so only one of them attacks at a time. */
async function lockMachine(t: Test): Promise<void> {
  const file = path.join(tmpdir(), 'berth-kernel-counters.lock');
  const lock = runProcess(t, 'flock', ['--no-fork', file, 'sh', '-c', 'echo locked; exec sleep 600']);
  await lock.line();
}

async function contract(t: Test, { instance, neighbour }: Scene): Promise<void> {
  const { runtime, instanceId, docker } = instance;
  const handle = await neighbour();
  const shares = dockerKernelShares({ instanceId, openFiles: OPEN_FILES });
  const { runtimeId } = handle;
  const host = dockerHost(docker, { instanceId, isLocal: true });
  await engineHostContract(t, { host, runtimeId });
  await kernelSharesContract(t, { shares, runtimeId, stop: () => runtime.stop(handle, 0) });
  t.notOk((await host.loads())?.has(runtimeId), 'one that has stopped uses nothing');
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** The service on a real engine; Mallory attacks while Ada works. */
async function aScene(t: Test, instance: TestInstance) {
  const { runtime, commands, image, instanceId, terminals } = instance;
  const clock = { now: () => new Date() };
  const storage = memoryStorage(clock);
  const debian = { key: 'debian', label: 'Debian', reference: image, digest: null, shell: '/bin/bash' };
  Object.assign(storage.state, { images: [debian] });
  const kernelShares = dockerKernelShares({ instanceId, openFiles: OPEN_FILES });
  const ports = {
    storage,
    runtime,
    commands,
    terminalBackend: terminals,
    kernelShares,
    runtimeNode: 'test',
    clock,
  };
  const service = await aService(ports);
  t.teardown(() => service.http.close());
  const [ada, mallory] = [await aPerson(service, 'ada'), await aPerson(service, 'mallory')];
  const make = async (who: Person) => {
    const made = await as(service, who)('POST', '/api/containers', { name: 'dev', ...asked });
    if (made.statusCode !== 201) throw new Error(made.body);
    return made.json();
  };
  const [hers, theirs] = [await make(ada), await make(mallory)];
  const call = as(service, mallory);
  const url = `/api/containers/${theirs.db_id}`;
  /** Runs until its container is stopped; returns how much it took. */
  const attack = async (program: string, ...args: readonly (string | number)[]): Promise<number> => {
    const started = await call('POST', `${url}/start`);
    if (started.statusCode !== 200) throw new Error(started.body);
    const begin = `rm -f out; setsid perl -e "$1" ${args.map((arg) => `'${arg}'`).join(' ')} > out 2>&1 &
      until grep -q taken out; do sleep 0.05; done; cat out`;
    const ran = await call('POST', `${url}/exec`, { command: ['bash', '-c', begin, 'attack', program] });
    const [, taken] = /taken (\d+)/.exec(ran.json().stdout) ?? [];
    if (taken === undefined) throw new Error(ran.body);
    return Number(taken);
  };
  const handleNow = async (who: Person, id: string) => {
    const { id: runtimeId } = (await as(service, who)('GET', `/api/containers/${id}`)).json();
    return { node: 'test', runtimeId };
  };
  return {
    instance,
    service,
    storage,
    attack,
    mallory,
    attacker: async () => (await call('GET', url)).json(),
    neighbour: () => handleNow(ada, hers.db_id),
    neighbourSays: async (command: readonly string[]): Promise<string> =>
      (await as(service, ada)('POST', `/api/containers/${hers.db_id}/exec`, { command })).json().stdout,
    neighbourNow: async () => (await as(service, ada)('GET', `/api/containers/${hers.db_id}`)).json(),
  };
}

/** Runs the watcher's pass until the attacker is stopped. */
async function untilStopped({ service, attacker }: Scene): Promise<void> {
  for (let checks = 0; (await attacker()).status !== 'stopped'; checks += 1) {
    if (checks > 20) throw new Error('the attacker still runs');
    await service.watchKernelShares();
    await sleep(50);
  }
}

async function inFlight(
  t: Test,
  scene: Scene,
  hidden: string,
  meanwhile: (isExhausted: boolean) => Promise<void>,
): Promise<void> {
  const { storage, attack, attacker, mallory, neighbourNow } = scene;
  const before = storage.state.audit.length;
  const taken = await attack(DESCRIPTORS_IN_FLIGHT, 100, hidden);
  t.ok(taken >= OPEN_FILES, `the kernel refuses more than ${taken}`);
  await meanwhile(true);

  await untilStopped(scene);
  t.match(await attacker(), {
    status_reason: /file descriptors in flight over sockets that all containers share/,
  });
  const records = storage.state.audit.slice(before).filter(({ action }) => action === 'container_over_share');
  t.match(records, [{ userId: mallory.id, details: /descriptorsInFlight/ }]);
  t.match(await neighbourNow(), { status: 'running' });
  await meanwhile(false);
}

/** The neighbour's terminal: a plain shell while the counter is exhausted, tmux after that. */
async function terminalsOpen(t: Test, { instance, neighbour }: Scene, isExhausted: boolean): Promise<void> {
  const opened = await instance.terminals.open(await neighbour(), aTerminal('main'));
  if (!isExhausted) t.equal(opened.muxSession, 'main', 'tmux starts');
  else {
    t.match(opened, { muxSession: null, isFallback: true }, 'tmux cannot start, a shell does');
    const shown = reader(opened);
    opened.write('echo works-$((1+1))\r');
    await shown.until('works-2');
  }
  await opened.close();
}

async function queues(t: Test, scene: Scene, how: string): Promise<void> {
  const { storage, attack, attacker, mallory, neighbourNow } = scene;
  const before = storage.state.audit.length;
  t.ok((await attack(MESSAGE_QUEUES, 8, how)) >= 5, 'more than half of what all containers may have');
  await untilStopped(scene);
  t.match(await attacker(), { status_reason: /bytes of POSIX message queues that all containers share/ });
  const records = storage.state.audit.slice(before).filter(({ action }) => action === 'container_over_share');
  t.match(records, [{ userId: mallory.id, details: /messageQueueBytes/ }]);
  t.match(await neighbourNow(), { status: 'running' });
}

async function inotify(t: Test, scene: Scene): Promise<void> {
  const { service, attack, neighbourSays } = scene;
  await attack('print "taken 0\\n"');
  await service.watchKernelShares();
  const taken = await attack(INOTIFY_INSTANCES, 4);
  t.ok(
    taken > 128 && taken <= OPEN_FILES,
    `${taken}: more than all had once, and no more than one container may have`,
  );
  t.equal(await neighbourSays(['perl', '-e', ONE_INOTIFY]), 'one more\n');
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  t.doesNotThrow(() => watch(folder).close(), 'this machine has some as well');
}

const FILES_AT_ONCE = 2_048;
/** Enough memory to reach the limits first. */
const resources = { memoryMb: 1024, cpuMillicores: 2000, diskMb: 512 };

const REFUSED = [
  ...['add_key', 'keyctl', 'fanotify_init', 'perf_event_open', 'bpf', 'userfaultfd', 'unshare', 'syslog'],
  ...['write fs/inotify/max_user_instances', 'write user/max_inotify_instances'],
  ...['write kernel/keys/maxkeys', 'write kernel/pty/max', 'lock 16 MiB'],
];
const ABSENT = ['device loop-control', 'device kmsg', 'device mem'];

t.test('shared limits, tried from inside a container', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const instance = await testInstance(t, engine, undefined, FILES_AT_ONCE);
  const { runtime, commands, image, instanceId } = instance;
  const handle = await runtime.create(aSpec(image, { resources }));
  await runtime.start(handle);
  await dockerKernelShares({ instanceId, openFiles: FILES_AT_ONCE }).read();
  const { stdout, stderr } = await runIn(commands, handle, ['perl', '-e', SURVEY], { timeoutSeconds: 90 });
  t.equal(stderr.toString(), '');
  const lines = stdout.toString().trim().split('\n');
  const found = new Map(
    lines.map((line): [string, string] => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']),
  );
  for (const line of lines) t.comment(line);
  for (const name of REFUSED) t.equal(found.get(name), 'refused', name);
  for (const name of ABSENT) t.equal(found.get(name), 'absent', name);
  const most = (name: string, count: number): void => {
    const got = Number(found.get(name));
    t.ok(got > 0 && got <= count, `${name}: ${got}, at most ${count}`);
  };
  most('inotify instances of a user', 1_024);
  most('timers of a user', 4_096);
  most('message queues of a user', 9);
  most('open files of a process', FILES_AT_ONCE);
  most('processes', 512);
  t.equal(found.get('terminals'), '300', 'as many as are tried');
  t.equal(found.get('pipes'), '400');
  t.equal(found.get('epoll watches'), '400');
  t.equal(found.get('System V segments'), '100');
  t.ok(Number(found.get('neighbours')) > 1_024, 'more than the default leaves for the whole machine');
  t.equal(found.get('room in the last pipe'), '65536', 'pipes keep their size');
  t.equal(found.get('entropy'), '65536', 'is never used up');
});
