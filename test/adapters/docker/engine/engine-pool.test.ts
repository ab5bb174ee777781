import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import t, { type Test } from 'tap';
import { dockerCanary } from '../../../../src/adapters/docker/containers/isolation-probe.ts';
import { runtimeSettings } from '../../../../src/adapters/docker/containers/runtime-settings.ts';
import { CANARY_LABEL, chainName } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { missingEnginePackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import { isRoot, run, runOrThrow } from '../../../../src/adapters/docker/host/host-commands.ts';
import { imageLabels } from '../../../../src/adapters/docker/images/base-image.ts';
import { BASE_LABEL, BASE_VERSION } from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import { mountPool, poolBytes } from '../../../../src/adapters/docker/private-engine/engine-pool.ts';
import {
  openEngine,
  type RunningEngine,
} from '../../../../src/adapters/docker/private-engine/open-engine.ts';
import { findDaemon } from '../../../../src/adapters/docker/private-engine/private-engine.ts';
import {
  type Layout,
  layoutOf,
} from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { clearPrivateEngine } from '../../../../src/adapters/docker/private-engine/private-engine-stop.ts';
import { FORGET_MOUNTS } from '../../../../src/adapters/docker/volumes/loop-device-script.ts';
import { prepareBaseImage } from '../../../../src/app/main/engine/base-image.ts';
import type { PartState } from '../../../../src/domain/service/health.ts';
import type { Reached } from '../../../../src/ports/containers/isolation-canary.ts';
import {
  engineAt,
  engineOrSkip,
  noEngineOfOurOwn,
  type TestInstance,
  testInstance,
} from '../../../support/engine/engine.ts';
import { isBound } from '../../../support/engine/instance.ts';
import { inPlaceOfMmdebstrap } from '../../../support/engine/stub-build.ts';
import { portOf } from '../../../support/listen.ts';
import { eventually, waitFor } from '../../../support/patience.ts';
import { silentLog } from '../../../support/samples/samples.ts';

const MIB = 1024 * 1024;

t.test("the engine's pool takes half of the space above the floor and skips small steps", async (t) => {
  const cases: [usableMb: number, haveMb: number, wantedMb: number][] = [
    [40_000, 0, 20_000],
    [100, 0, 1024],
    [-100, 0, 1024],
    [40_000, 18_000, 18_000],
    [40_000, 16_000, 20_000],
    [1_000, 20_000, 20_000],
  ];
  for (const [usableMb, haveMb, wantedMb] of cases)
    t.equal(poolBytes(usableMb * MIB, haveMb * MIB), wantedMb * MIB, `${usableMb} ${haveMb}`);
});

async function aFolder(t: Test): Promise<{ dataDir: string; at: Layout }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-pool-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  return { dataDir, at: layoutOf(dataDir) };
}

const open = (dataDir: string, poolMb: number) =>
  openEngine({ dataDir, mode: 'auto', dockerHost: null, poolMb, progress: () => {}, log: silentLog });

async function opened(t: Test, dataDir: string, poolMb: number): Promise<RunningEngine> {
  const engine = await open(dataDir, poolMb);
  if (engine.kind === 'none') throw new Error(engine.mend);
  t.teardown(() => engine.stop());
  return engine;
}

const totalMb = async ({ dataRoot }: Layout): Promise<number> => {
  const { blocks, bsize } = await statfs(dataRoot);
  return (blocks * bsize) / MIB;
};

const KEPT = 'kept';

/** Mounts the pool with `poolMb`, checks that its files survive, and returns its size. */
async function mountedMb(t: Test, at: Layout, poolMb: number): Promise<number> {
  t.equal(await mountPool(at, { poolMb, floorMb: null }), null);
  t.ok(existsSync(join(at.dataRoot, KEPT)));
  return await totalMb(at).finally(() => clearPrivateEngine(at));
}

const devices = async ({ pool }: Pick<Layout, 'pool'>): Promise<string> =>
  (await run('losetup', ['-j', pool])).stdout;

/** Mounts the pool's image as another program's mount namespace may still have it; returns the end of that. */
async function usedElsewhere({ pool }: Layout, folder: string): Promise<() => Promise<void>> {
  const at = await mkdtemp(join(folder, 'used-'));
  const hold = 'mount -o loop "$0" "$1" && touch "$1.used" && while [ -e "$1.on" ]; do sleep 0.1; done';
  await writeFile(`${at}.on`, '');
  // On a busy machine the pool waits longer for the image than a command may usually take.
  const holding = run('unshare', ['--mount', 'sh', '-c', FORGET_MOUNTS + hold, pool, at], {
    timeoutSeconds: 200,
  });
  await waitFor(() => existsSync(`${at}.used`), { what: 'the image is mounted elsewhere' });
  return async () => {
    await rm(`${at}.on`);
    const { code, stderr } = await holding;
    if (code !== 0) throw new Error(`the image was not in use until now: ${code} ${stderr}`);
    await waitFor(async () => (await devices({ pool })) === '', { what: 'the device is released' });
  };
}

async function growing(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  const first = await opened(t, dataDir, 300);
  t.equal(first.poolFault, null);
  const small = await totalMb(at);
  t.ok(small > 200 && small <= 300, `${small} MB`);
  t.not(await isBound(at.pool), false, 'who writes much delays nobody else for long');
  await writeFile(join(at.dataRoot, KEPT), '');
  const joined = await opened(t, dataDir, 300);
  t.equal(joined.poolFault, null, 'found by who joins');
  await first.stop();
  t.equal(await devices(at), '', 'no device is left');

  const end = await usedElsewhere(at, dataDir);
  t.equal(await mountedMb(t, at, 600), small, 'it does not grow while another mount namespace has it');
  await end();
  t.match(await run('e2fsck', ['-fn', at.pool]), { code: 0 }, 'it is intact');

  const large = await mountedMb(t, at, 600);
  t.ok(large > 450 && large <= 600, `${large} MB`);
  t.equal(await mountedMb(t, at, 300), large, 'it does not shrink');
}

async function olderData(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  await mkdir(join(at.storage, 'older'), { recursive: true });
  const engine = await opened(t, dataDir, 300);
  t.match(engine.poolFault, /older than this option/);
  t.notOk(existsSync(at.pool));
  t.ok(existsSync(join(at.dataRoot, 'older')));
  await engine.stop();
}

async function damaged(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  await mkdir(at.home, { recursive: true });
  await writeFile(at.pool, Buffer.alloc(MIB, 'x'));
  t.match(await open(dataDir, 300), { kind: 'none', mend: /pool\.img/ });
  t.equal(await findDaemon(at), null);
  t.equal(await devices(at), '');
}

const reason = (await noEngineOfOurOwn()) ?? ((await missingEnginePackages()).join(', ') || null);
if (reason !== null) t.pass('a private engine', { skip: reason });
else {
  await t.test("the engine's data has its own file system, which grows", growing);
  await t.test('an engine with existing data keeps its place and says so', olderData);
  await t.test('an engine with a damaged file system does not start empty', damaged);
}

/** A client of the engine that gets 500 for each call of a path that matches `failing`. */
async function faultyEngine(endpoint: string, broken: RegExp) {
  const { docker } = await engineAt(endpoint);
  const state = { docker, failing: broken as RegExp | null, failed: [] as string[] };
  const { modem } = docker;
  const dial = modem.dial.bind(modem);
  modem.dial = (options, done) => {
    const path = String(options.path);
    if (state.failing?.test(path) !== true) return dial(options, done);
    state.failed.push(path);
    done?.(Object.assign(new Error('disk on fire'), { statusCode: 500 }), null);
  };
  return state;
}

const IMAGE = /\/images\/berth/;
const VOLUMES = /\/volumes\/create/;

t.test('failed startup work is retried', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const { instanceId, network } = await testInstance(t, engine);
  const faulty = await faultyEngine(engine.endpoint, IMAGE);
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const parts: { image: PartState } = { image: { status: 'down', detail: 'is being prepared' } };
  const ready: string[] = [];
  const { background } = await prepareBaseImage({
    source: {
      docker: faulty.docker,
      reference: engine.image,
      network: network.name,
      instanceId,
      mayInstall: true,
    },
    parts,
    log: silentLog,
    signal: ending.signal,
    firstRetryMs: 20,
    onImage: () => ready.push('image'),
    onTools: () => ready.push('tools'),
  });
  t.match(parts.image, { status: 'degraded', mend: /keeps retrying/ });
  faulty.failing = VOLUMES;
  t.match(
    await eventually(
      () => parts.image.detail,
      (detail) => /without tmux/.test(detail),
    ),
    /without tmux/,
    'the image is there',
  );
  t.same(ready, ['image']);
  faulty.failing = null;
  await background;
  t.same(ready, ['image', 'tools'], 'images without tmux get sessions');
  t.equal(parts.image.status, 'ready');
  t.match(faulty.failed.join(), /images.*volumes/, 'both failed before');
});

function iptables(...args: string[]): Promise<string> {
  return runOrThrow('iptables', ['--wait', '5', ...args]);
}

const MANY_ADDRESSES = 200;

const engine = await engineOrSkip(t);
if (engine !== null && (!isRoot() || !engine.isLocal)) {
  t.pass('canary', { skip: 'the packet filter needs root and an engine on this machine' });
} else if (engine !== null) {
  await manyAddresses(t);
  const instance = await testInstance(t, engine);
  await leadMetadataHere(t, instance);
  await t.test('the isolation check passes on a closed network', (t) => closed(t, instance));
  await t.test('the isolation check detects an opening', (t) => reachable(t, instance));
  await t.test('a stopped isolation check leaves nothing', (t) => stopped(t, instance));
}

async function aCanary({ docker, instanceId, network, image, isLocal }: TestInstance) {
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  return dockerCanary(docker, { ...settings, image, isLocal });
}

async function left({ docker, instanceId }: TestInstance): Promise<number> {
  const label = [`${CANARY_LABEL}=${instanceId}`];
  return (await docker.listContainers({ all: true, filters: { label } })).length;
}

/** Each further engine adds addresses, and a machine with many networks has hundreds. */
async function manyAddresses(t: Test): Promise<void> {
  const link = `many${process.pid}`;
  await runOrThrow('ip', ['link', 'add', link, 'type', 'bridge']);
  t.teardown(() => runOrThrow('ip', ['link', 'del', link]));
  const lines = Array.from(
    { length: MANY_ADDRESSES },
    (_, n) => `address add 198.18.${n >> 8}.${n & 255}/32 dev ${link}`,
  );
  await runOrThrow('sh', ['-c', 'printf "%s\n" "$@" | ip -batch -', 'sh', ...lines]);
  await runOrThrow('ip', ['link', 'set', link, 'up']);
}

async function closed(t: Test, instance: TestInstance): Promise<void> {
  t.same(await (await aCanary(instance)).prove(), [], 'the rules hold, wherever a packet is led');
  t.equal(await left(instance), 0, 'and no canary remains');
  t.same((await instance.runtime.list()).length, 0, 'nor was any taken for a workspace');
}

/** Each finding has its own name and address. */
async function reachable(t: Test, instance: TestInstance): Promise<void> {
  const { network, instanceId } = instance;
  const chain = chainName(instanceId);
  await iptables('-F', `${chain}-IN`);
  await iptables('-I', `${chain}-FW`, '1', '-i', network.bridge, '-o', network.bridge, '-j', 'ACCEPT');
  const image = await withEngineSocket(t, instance);
  const reached = await (await aCanary({ ...instance, image })).prove();
  const at = (what: Reached['what']) => reached.filter((one) => one.what === what).map((one) => one.at);
  t.match(at('neighbour'), [/:8099$/], 'another container');
  t.same(at('metadata'), ['169.254.169.254:80'], 'an address that tells of the machine');
  t.match(at('engine'), [/docker\.sock$/], 'the socket of an engine');
  t.ok(at('host').length >= MANY_ADDRESSES, `all addresses of the machine are tried: ${at('host').length}`);
}

/** A test server takes the place of a cloud's metadata address, to which the packets are redirected. */
async function leadMetadataHere(t: Test, { network }: TestInstance): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).end('secret\n'));
  const port = await portOf(t, server, '0.0.0.0');
  const to = ['-j', 'REDIRECT', '--to-ports', `${port}`];
  const led = ['-i', network.bridge, '-p', 'tcp', '-d', '169.254.169.254', '--dport', '80', ...to];
  t.teardown(() => iptables('-t', 'nat', '-D', 'PREROUTING', ...led));
  await iptables('-t', 'nat', '-I', 'PREROUTING', ...led);
}

async function withEngineSocket(t: Test, { docker, image }: TestInstance): Promise<string> {
  const made = await docker.createContainer({ Image: image, Entrypoint: ['touch', '/run/docker.sock'] });
  t.teardown(() => made.remove({ force: true }));
  await made.start();
  await made.wait();
  const { Id } = await made.commit({});
  t.teardown(() => docker.getImage(Id).remove({ force: true }));
  return Id;
}

async function stopped(t: Test, instance: TestInstance): Promise<void> {
  const canary = await aCanary(instance);
  const flight = canary.prove().catch(() => undefined);
  await waitFor(async () => (await left(instance)) > 0, { everyMs: 20 });
  await canary.stop();
  await flight;
  t.equal(await left(instance), 0);
}

t.test('an image of an older version is in use until the new one is made', async (t) => {
  const engine = isRoot() ? await engineOrSkip(t) : null;
  if (engine === null) return;
  const { instanceId, network } = await testInstance(t, engine);
  const { docker } = await faultyEngine(engine.endpoint, /fromImage/);
  const reference = await anOlderImage(t, docker, engine.image);
  const build = await inPlaceOfMmdebstrap(
    t,
    '#!/bin/sh\nuntil [ -e "$0.go" ]; do sleep 0.05; done\nexec tar -c /etc/hostname\n',
  );
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const parts: { image: PartState } = { image: { status: 'down', detail: 'is being prepared' } };
  const ready: string[] = [];
  const { background } = await prepareBaseImage({
    source: { docker, reference, network: network.name, instanceId, mayInstall: false },
    parts,
    log: silentLog,
    signal: ending.signal,
    firstRetryMs: 20,
    onImage: () => ready.push('image'),
    onTools: () => ready.push('tools'),
  });
  t.match(parts.image, { status: 'ready', detail: /older version/ }, 'before the build has ended');
  t.equal(ready[0], 'image');
  t.match(await imageLabels(docker, reference), { [BASE_LABEL]: 'older' });
  await writeFile(`${build}.go`, '');
  const isNew = async () => (await imageLabels(docker, reference))?.[BASE_LABEL] === BASE_VERSION;
  await waitFor(isNew, { patienceMs: 120_000 });
  t.same(ready.slice(0, 2), ['image', 'tools'], 'tmux comes from the older one, too');
  ending.abort();
  await background;
});

/** An image like `from`, but by an older recipe; removed at the end of `t`. */
async function anOlderImage(t: Test, docker: Docker, from: string): Promise<string> {
  const [repo, tag] = ['berth/test-older', randomUUID()];
  const container = await docker.createContainer({ Image: from });
  await container.commit({ repo, tag, changes: `LABEL ${BASE_LABEL}=older` });
  await container.remove();
  t.teardown(() => docker.getImage(`${repo}:${tag}`).remove({ force: true }));
  return `${repo}:${tag}`;
}
