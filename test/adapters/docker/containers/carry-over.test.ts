import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { capture, envWithoutValues } from '../../../../src/adapters/docker/images/container-images.ts';
import { fixedClock, memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { ageVolumeIn, aSpec, shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually } from '../../../support/patience.ts';
import { needs } from '../../../support/run/infra.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';

const SECRET = 'a secret of the user';

/** A Debian package with one file, made without any network. */
const INSTALL = `set -e; mkdir -p /tmp/p/DEBIAN /tmp/p/opt/hello
echo hello > /tmp/p/opt/hello/word
printf 'Package: hello-berth\\nVersion: 1.2\\nArchitecture: all\\nMaintainer: t <t@example.org>\\nDescription: t\\n' > /tmp/p/DEBIAN/control
dpkg-deb -b /tmp/p /tmp/p.deb >/dev/null; dpkg -i /tmp/p.deb >/dev/null; rm -r /tmp/p /tmp/p.deb
printf '#!/bin/sh\\necho tool\\n' > /usr/local/bin/tool; chmod 755 /usr/local/bin/tool
rm /etc/issue; echo data > /workspace/data`;

const SHOW_LAYER =
  'tool; cat /opt/hello/word /workspace/data; dpkg -s hello-berth | grep ^Version; ls /etc/issue 2>&1; :';
const SEEN = /^tool\nhello\ndata\nVersion: 1\.2\nls: .*No such file/;

t.test("a captured image has none of the container's environment values", async (t) => {
  const config = (Env: string[]) => ({ Config: { Env } }) as never;
  t.same(envWithoutValues(config(['PATH=/bin', 'A=1=2']), config(['PATH=/x', 'A=3', 'TOKEN=s=e'])), [
    'PATH=/bin',
    'A=1=2',
    'TOKEN=',
  ]);
  t.same(envWithoutValues(null, config(['TOKEN=s'])), ['TOKEN=']);
  t.same(envWithoutValues(null, null), []);
});

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('installed software survives new limits', (t) => throughTheService(t, instance));
  const busybox = await needs(t, 'busybox');
  // A small image is flattened quickly.
  if (busybox !== null)
    await t.test('layers of snapshot images do not grow without end', (t) =>
      layers(t, { ...instance, image: busybox.bare }),
    );
}

async function throughTheService(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime, commands, insight, image } = instance;
  const storage = memoryStorage(fixedClock());
  const service = await aService({ storage, runtime, commands, insight, runtimeNode: 'test' });
  const call = as(service, await aPerson(service, 'ada'));
  const limits = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
  const box = (await call('POST', '/api/containers', { name: 'dev', ...limits, env: { SECRET } })).json();
  t.equal(box.image, image);
  const url = `/api/containers/${box.db_id}`;
  const sh = async (script: string): Promise<string> => {
    const answer = await call('POST', `${url}/exec`, { command: ['sh', '-c', script] });
    if (answer.json().exit_code !== 0) throw new Error(answer.body);
    return answer.json().stdout;
  };
  await sh(INSTALL);

  const kept = await call('PATCH', url, { name: 'dev', ...limits, memory_mb: 512, carry_over: true });
  t.match(kept.json(), { restarted: true, container: { status: 'running', resources: { memory_mb: 512 } } });
  t.notOk('left_behind' in kept.json());
  t.match(await sh(SHOW_LAYER), SEEN);
  t.equal(await sh('printf "$SECRET"'), SECRET, 'its environment is as it was');
  const [captured] = await runtime.layerImages();
  const config = (await docker.getImage(captured?.imageId ?? '').inspect()).Config;
  t.notMatch(JSON.stringify(config), new RegExp(SECRET), 'which no image contains');

  await docker.getContainer(kept.json().container.id).remove({ force: true });
  t.match((await call('POST', `${url}/start`)).json(), { recreated: true, volume_kept: true });
  t.match(await sh(SHOW_LAYER), SEEN, 'a start of a vanished one still has it');
  await call('DELETE', url);
  await call('POST', `${url}/restore`);
  await call('POST', `${url}/start`);
  t.match(await sh(SHOW_LAYER), SEEN, 'a restore as well');

  await sh('echo more > /usr/local/bin/more');
  const shown = (await call('GET', `${url}/changes`)).json();
  const left = (await call('PATCH', url, { name: 'dev', ...limits })).json();
  t.match(left, { restarted: true, left_behind: { complete: true } });
  for (const report of [shown, left.left_behind]) {
    t.match(report.packages, [{ manager: 'apt', name: 'hello-berth', version: '1.2', change: 'added' }]);
    const paths = report.files.map(({ path }: { path: string }) => path);
    t.match(paths.filter((path: string) => path.startsWith('/usr/local')).sort(), [
      '/usr/local/bin/more',
      '/usr/local/bin/tool',
    ]);
  }
  t.match(await sh('cat /workspace/data; ls /usr/local/bin /etc/issue'), /^data\n\/etc\/issue/);
  // The update answers once it is recorded; until it has removed the old container, its images stay.
  const images = await eventually(
    async () => {
      await service.reconcile();
      return await runtime.layerImages();
    },
    ({ length }) => length === 0,
  );
  t.same(images, [], 'and the private image is gone');
  t.ok(await docker.getImage(image).inspect(), 'the catalogue’s is not');

  await call('DELETE', url);
  for (const days of [7, 1]) {
    t.ok(await runtime.volumeExists(box.volume.name));
    await ageVolumeIn(storage)(box.db_id, days * 24);
    await service.collectVolumes();
  }
  t.notOk(await runtime.volumeExists(box.volume.name), 'the volume goes in two steps');
}

async function layers(
  t: Test,
  { docker, runtime, commands, image, instanceId }: TestInstance,
): Promise<void> {
  const calls = engineCalls(docker);
  const spec = aSpec(image);
  const base = (await docker.getImage(image).inspect()).RootFS.Layers?.length ?? 0;
  let handle = await runtime.create(spec);
  for (const generation of [2, 3, 4]) {
    await runtime.start(handle);
    await shellIn(
      commands,
      handle,
      30,
    )(`echo ${generation} > /bin/gen-${generation}; chown 7:8 /bin/gen-${generation}`);
    await runtime.stop(handle, 5);
    const next = { ...aSpec(image, spec), generation };
    const reference = await capture(calls, handle.runtimeId, next, instanceId, base + 2);
    await runtime.remove(handle);
    handle = await runtime.create({ ...next, image: reference });
    const { RootFS, Config } = await docker.getImage(reference).inspect();
    t.equal(RootFS.Layers?.length, [base + 1, base + 2, 1][generation - 2]);
    t.match(Config.Labels, { 'berth.instance': instanceId, 'berth.generation': String(generation) });
    const { Config: original } = await docker.getImage(image).inspect();
    t.match(new Set(Config.Env), new Set(original.Env ?? []), 'the environment of the image stays');
  }
  await runtime.start(handle);
  const seen = await shellIn(
    commands,
    handle,
    30,
  )('cat /bin/gen-*; stat -c %u:%g /bin/gen-*; ls /bin/busybox');
  t.equal(seen.trim(), '2\n3\n4\n7:8\n7:8\n7:8\n/bin/busybox', 'everything is still there');
  await runtime.remove(handle);
  for (let n = 0; n < 3; n += 1) {
    for (const one of await runtime.layerImages()) await runtime.removeCaptured(one);
  }
  t.same(await runtime.layerImages(), []);
}
