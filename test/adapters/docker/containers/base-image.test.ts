import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { containerName } from '../../../../src/adapters/docker/containers/container-names.ts';
import { dockerAt } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { followToEnd } from '../../../../src/adapters/docker/engine/engine-progress.ts';
import { isRoot, runOrThrow } from '../../../../src/adapters/docker/host/host-commands.ts';
import { ensureBaseImage, imageLabels } from '../../../../src/adapters/docker/images/base-image.ts';
import {
  buildFromPackages,
  importDraft,
} from '../../../../src/adapters/docker/images/base-image-from-packages.ts';
import {
  BASE_LABEL,
  type BaseImageSettings,
} from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import { pullImage } from '../../../../src/adapters/docker/images/pull-image.ts';
import { memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { poolMemberContract, warmPoolEngineContract } from '../../../contract/containers/warm-pool.ts';
import { aSpec, poolOf } from '../../../support/engine/container.ts';
import {
  engineOrSkip,
  type TestEngine,
  type TestInstance,
  testInstance,
} from '../../../support/engine/engine.ts';
import { aRegistry, type Registry } from '../../../support/engine/registry.ts';
import { inPlaceOfMmdebstrap } from '../../../support/engine/stub-build.ts';
import { portOf } from '../../../support/listen.ts';
import { silentLog } from '../../../support/samples/samples.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';

const MIB = 1_048_576;
const limits = { firstAnswerSeconds: 30, pullSeconds: 60, maxBytes: 2 * MIB };

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('an existing image is not built again', (t) => present(t, engine));
  await t.test('an image missing in every registry is refused', (t) => absentImage(t, instance));
  if (isRoot())
    await t.test('an interrupted build leaves nothing that counts as the image', (t) =>
      brokenBuild(t, engine),
    );
  if (isRoot()) await t.test('a build ends when the engine does not take its archive', refusedArchive);
  await t.test('an archive that begins late reaches an engine that closes silent connections', lateArchive);
  if (engine.isLocal) {
    const registry = await aRegistry(t);
    await t.test('docker: an image is pulled when a container needs it', (t) => pulls(t, instance, registry));
    await t.test('docker: a digest selects exactly that image', (t) => pins(t, instance, registry));
    await t.test('docker: a pull stops at its limits', (t) => limited(t, instance, registry));
  }
  await poolMemberContract('docker', instance);
  await warmPoolEngineContract('docker', { ...instance, absent: 'berth/absent:1' });
  await t.test('a pool member becomes a container like any other', (t) => given(t, instance));
}

function settings(reference: string): BaseImageSettings {
  return { reference, progress: () => {}, log: silentLog, allowPull: false };
}

async function present(t: Test, { docker, image }: TestEngine): Promise<void> {
  const said: string[] = [];
  const progress = (message: string): unknown => said.push(message);
  t.same(await ensureBaseImage(docker, { ...settings(image), allowPull: true, progress }), {
    reference: image,
    how: 'present',
  });
  t.same(said, [], 'nothing is worth a word');
}

async function brokenBuild(t: Test, { docker }: TestEngine): Promise<void> {
  const volume = await mkdtemp('/run/berth-volume-');
  await runOrThrow('mount', ['-t', 'tmpfs', 'none', volume]);
  t.teardown(async () => {
    await runOrThrow('umount', [volume]);
    await rmdir(volume);
  });
  // A killed build as the engine sees it: a good archive that ends early.
  await inPlaceOfMmdebstrap(
    t,
    `#!/bin/sh\ntar -c /etc/hostname\necho "E: out of luck with $(grep -c ${volume} /proc/self/mountinfo)" >&2\nexit 25\n`,
  );
  const reference = `berth/test-broken:${randomBytes(4).toString('hex')}`;
  const broken = { message: /out of luck with 0/ };
  await t.rejects(ensureBaseImage(docker, settings(reference)), broken, 'it keeps no mounted volume in use');
  t.equal(await imageLabels(docker, reference), null);
  const old = `${reference}-old`;
  const archive = spawn('tar', ['-c', '/etc/hostname'], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout;
  const [repo, tag] = old.split(':');
  const imported = await docker.importImage(archive, { repo, tag, changes: [`LABEL ${BASE_LABEL}=older`] });
  await followToEnd(imported, () => {});
  t.teardown(() => docker.getImage(old).remove());
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  t.match(await ensureBaseImage(docker, { ...settings(old), log }), { how: 'kept' });
  t.match(warnings, [/older version.*out of luck/], 'an older one that can not be made again stays');
  const drafts = await docker.listImages({ filters: { reference: ['berth/draft'] } });
  t.same(drafts, [], 'no draft is left either');
}

async function refusedArchive(t: Test): Promise<void> {
  await inPlaceOfMmdebstrap(t, '#!/bin/sh\nexec yes\n');
  const absent = dockerAt({ host: '127.0.0.1', port: 9, tls: null });
  const draft = { repo: 'berth/draft', tag: 'late' };
  await t.rejects(buildFromPackages(absent, draft, settings('berth/test:1')), { code: 'ECONNREFUSED' });
}

async function lateArchive(t: Test): Promise<void> {
  const received: string[] = [];
  const server = createServer({ headersTimeout: 100, connectionsCheckingInterval: 10 }, (request, response) =>
    request
      .setEncoding('utf8')
      .on('data', (text: string) => received.push(text))
      .on('end', () => response.end('{"status": "made"}')),
  );
  const port = await portOf(t, server);
  const archive = new PassThrough();
  const docker = dockerAt({ host: '127.0.0.1', port, tls: null });
  const imported = importDraft(docker, { repo: 'berth/draft', tag: 'late' }, archive);
  imported.catch(() => {});
  await once(connect(port, '127.0.0.1').resume(), 'close');
  archive.end('an archive');
  await imported;
  t.equal(received.join(''), 'an archive');
}

async function absentImage(t: Test, { runtime }: TestInstance): Promise<void> {
  const cases = {
    'berth/never-made:1': 'RuntimeFailure',
    '127.0.0.1:9/nobody/has-this:1': 'ImageUnavailable',
  };
  for (const [image, name] of Object.entries(cases)) {
    await t.rejects(runtime.create(aSpec(image)), { name }, image);
  }
}

async function pulls(t: Test, instance: TestInstance, { host }: Registry): Promise<void> {
  const image = `${host}/small:1`;
  const handle = await instance.runtime.create(aSpec(image));
  t.equal((await instance.runtime.observe(handle)).kind, 'stopped');
  await instance.runtime.remove(handle);
  await instance.docker.getImage(image).remove();
  await t.rejects(instance.runtime.create(aSpec(`${host}/absent:1`)), { name: 'ImageUnavailable' });
}

async function pins(t: Test, instance: TestInstance, { host, digest }: Registry): Promise<void> {
  const handle = await instance.runtime.create(aSpec(`${host}/small:1@${digest}`));
  await instance.runtime.remove(handle);
  const other = `${host}/small:1@sha256:${'0'.repeat(64)}`;
  await t.rejects(
    instance.runtime.create(aSpec(other)),
    { name: 'ImageUnavailable' },
    'whatever the tag says',
  );
}

async function limited(t: Test, { docker }: TestInstance, { host }: Registry): Promise<void> {
  const pull = (name: string, over: Partial<typeof limits> = {}) =>
    pullImage(docker, `${host}/${name}:1`, () => {}, { limits: { ...limits, ...over } });
  await t.rejects(pull('huge'), { message: /larger than/ }, 'one that says how large it is');
  await t.rejects(pull('bomb'), { message: /larger than/ }, 'one that does not');
  const kept = await docker.listImages({ filters: { reference: [`${host}/bomb:1`] } });
  t.equal(kept.length, 0, 'and it is not kept');
  await t.rejects(pull('silent', { firstAnswerSeconds: 1, pullSeconds: 1 }), {
    message: /no answer in time/,
  });
  await t.rejects(pull('huge', { pullSeconds: 1, maxBytes: 2 ** 50 }), { message: /no answer in time/ });
}

async function given(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime, commands, image } = instance;
  const clock = { now: () => new Date() };
  const storage = memoryStorage(clock);
  const debian = { key: 'debian', label: 'Debian', reference: image, digest: null, shell: '/bin/bash' };
  Object.assign(storage.state, { images: [debian] });
  const service = await aService(
    { storage, runtime, commands, warmPool: instance.warmPool, runtimeNode: 'test', clock },
    { warmPoolSize: 1 },
  );
  t.teardown(() => service.warmPool.stop());
  service.warmPool.soon();
  const [dbId] = await poolOf(storage, 1);
  await service.reconcile();
  const call = as(service, await aPerson(service, 'ada'));
  const asked = { memory_mb: 768, cpu_shares: 700, disk_mb: 1024 };
  const made = await call('POST', '/api/containers', { name: 'dev', ...asked });
  t.equal(made.statusCode, 201);
  t.match(made.json(), { db_id: dbId, status: 'running', resources: asked, volume: { name: `ws-${dbId}` } });

  const other = await runtime.create(
    aSpec(image, { resources: { memoryMb: 768, cpuMillicores: 700, diskMb: 1024 } }),
  );
  const [warm, cold] = await Promise.all(
    [made.json().id, other.runtimeId].map((id: string) => docker.getContainer(id).inspect()),
  );
  if (warm === undefined || cold === undefined) throw new Error('not there');
  t.match(warm.State, { Running: true });
  t.match(warm.HostConfig, { Memory: 768 * MIB, MemorySwap: 768 * MIB, NanoCpus: 700_000_000 });
  // Each has its own volume, and the cores with the fewest others.
  const { Mounts: _warmMounts, CpusetCpus: warmCores, ...warmHost } = warm.HostConfig;
  const { Mounts: _coldMounts, CpusetCpus: coldCores, ...coldHost } = cold.HostConfig;
  t.same(warmHost, coldHost, 'confined like one that was made for the request, on the same network');
  t.equal(warmCores?.split(',').length, coldCores?.split(',').length, 'on as many cores');
  const workspace = warm.Mounts.filter(({ Destination }) => Destination === '/workspace');
  t.match(workspace, [{ Type: 'volume', Name: `ws-${dbId}` }]);
  t.equal(warm.Name, `/${containerName(instance.instanceId, dbId ?? '', 1)}`);
  t.same(
    Object.keys(warm.Config.Labels)
      .filter((label) => label.startsWith('berth.') && label !== 'berth.base')
      .sort(),
    ['berth.db_id', 'berth.disk_mb', 'berth.generation', 'berth.instance'],
  );
  t.match(warm.Config.Labels, { 'berth.instance': instance.instanceId, 'berth.db_id': dbId });

  const sum = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';
  const command = ['sh', '-c', `hostname -s; ${sum}; echo kept > /workspace/file`];
  const ran = await call('POST', `/api/containers/${dbId}/exec`, { command });
  t.equal(ran.json().stdout, `workspace\n${768 * MIB}\n`, 'the kernel has the limits too');
  const patched = await call('PATCH', `/api/containers/${dbId}`, { name: 'dev', ...asked, memory_mb: 512 });
  t.match(patched.json(), { restarted: true });
  const read = await call('POST', `/api/containers/${dbId}/exec`, { command: ['cat', '/workspace/file'] });
  t.match(read.json(), { stdout: 'kept\n' }, 'a recreate finds the volume');
}
