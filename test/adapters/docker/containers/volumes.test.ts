import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../../../src/adapters/docker/host/host-commands.ts';
import { noView } from '../../../../src/adapters/docker/resource-view/resource-view.ts';
import { chooseDiskQuota } from '../../../../src/adapters/docker/volumes/choose-quota.ts';
import type { DiskSettings } from '../../../../src/adapters/docker/volumes/container-volumes.ts';
import { DATA_FOLDER } from '../../../../src/adapters/docker/volumes/disk-image-scripts.ts';
import { FORGET_MOUNTS } from '../../../../src/adapters/docker/volumes/loop-device-script.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { containerDiskContract } from '../../../contract/containers/container-disk.ts';
import { volumeCopiesContract } from '../../../contract/containers/snapshots/volume-copies.ts';
import { aSpec, shellIn } from '../../../support/engine/container.ts';
import {
  engineOrSkip,
  type TestEngine,
  type TestInstance,
  testInstance,
} from '../../../support/engine/engine.ts';
import { isBound } from '../../../support/engine/instance.ts';
import { aFolder } from '../../../support/folder.ts';
import { eventually, waitFor } from '../../../support/patience.ts';
import { silentLog } from '../../../support/samples/samples.ts';

/** Its first answer about a device is old when it arrives: the device has another image by then. */
const LATE_LOSETUP = `#!/bin/sh
PATH=\${PATH#*:}
at=\${0%/*}
answer=$(losetup "$@")
if [ -n "$answer" ] && rm "$at/holder" 2>/dev/null; then
  until [ -z "$(losetup "$@")" ]; do sleep 0.1; done
  losetup "$answer" "$at/other.img"
fi
[ -z "$answer" ] || echo "$answer"
`;

type Scene = TestInstance & { readonly disk: DiskSettings; readonly folder: string };

const engine = await engineOrSkip(t);
if (engine !== null) await withEngine(engine);

async function withEngine(engine: TestEngine): Promise<void> {
  const folder = t.testdir();
  const quota = (instanceId: string, setting: 'auto' | 'soft', dataDir = folder) =>
    chooseDiskQuota(
      {
        ...engine,
        mend: null,
        poolFault: null,
        view: noView('not tested here'),
        warning: null,
        version: '',
        revive: async () => {},
        stop: async () => {},
      },
      { setting, instanceId, dataDir, mayInstall: false, progress: () => {}, log: silentLog },
    );
  let chosen: DiskSettings | undefined;
  const instance = await testInstance(t, engine, async (instanceId) => {
    const { disk, choice } = await quota(instanceId, 'auto');
    t.comment(choice.detail);
    t.same((await quota(instanceId, 'soft')).choice.mode, 'measured');
    chosen = disk;
    return disk;
  });
  if (chosen?.images == null || chosen.mode !== 'image')
    return void t.pass('images', { skip: 'not on this machine' });
  const { images } = chosen;
  t.teardown(images.close);
  const scene: Scene = { ...instance, disk: chosen, folder };
  await t.test('trying a quota method leaves nothing', async (t) => {
    t.same(readdirSync(path.join(folder, 'volumes')), []);
    t.same(await attached(folder), []);
  });
  await t.test('processes of one installation try the methods at the same time', async (t) => {
    const both = [aFolder(t), aFolder(t)].map((own) => quota('at-once', 'auto', own));
    for (const { choice, disk } of await Promise.all(both)) {
      t.equal(choice.mode, 'image', choice.detail);
      await disk.images?.close();
    }
  });
  await containerDiskContract('Docker, volumes as images', instance);
  await volumeCopiesContract('Docker, volumes as images', instance);
  await t.test('a volume grows and shrinks with its contents', (t) => sizes(t, scene));
  const box = await running(scene, 64);
  await t.test('a full volume is full for its owner alone', (t) => full(t, scene, box));
  await t.test('no container starts without its mount, and a start restores it', (t) =>
    unmounted(t, scene, box),
  );
  await t.test("a start never mounts another volume's image from a reused device", (t) =>
    reused(t, scene, box),
  );
  await t.test('a missing volume image is not replaced by an empty one', (t) => missing(t, scene, box));
  await t.test("a volume image survives the engine's volume", (t) => forgotten(t, scene, box));
  await t.test('closing unmounts every volume', async (t) => {
    await images.close();
    t.notOk(existsSync(path.dirname(path.dirname(images.dataOf('any')))));
  });
}

/** Images below the folder that are attached to loop devices. */
async function attached(folder: string): Promise<readonly string[]> {
  const { stdout } = await run('losetup', ['-n', '-O', 'BACK-FILE']);
  return stdout.split('\n').filter((line) => line.trim().startsWith(folder));
}

function sh(scene: Scene, handle: RuntimeHandle, script: string): Promise<string> {
  return shellIn(scene.commands, handle, 60)(script);
}

function specOf({ image }: Scene, diskMb: number) {
  return aSpec(image, { resources: { memoryMb: 512, cpuMillicores: 2000, diskMb } });
}

async function running(scene: Scene, diskMb: number) {
  const spec = specOf(scene, diskMb);
  const handle = await scene.runtime.create(spec);
  await scene.runtime.start(handle);
  const end = async (): Promise<void> => {
    await scene.runtime.remove(handle);
    await scene.runtime.removeVolume(spec.volume);
  };
  return { spec, handle, end };
}

async function full(t: Test, scene: Scene, neighbour: Running): Promise<void> {
  const greedy = await running(scene, 64);
  const image = scene.disk.images?.imageOf(greedy.spec.volume) ?? '';
  t.not(await isBound(image), false, 'who writes much delays nobody else for long');
  t.equal(
    await sh(
      scene,
      greedy.handle,
      'ls -d /workspace/lost+found 2>/dev/null; ls -A /etc/skel /workspace | wc -l; :',
    ),
    await sh(scene, neighbour.handle, 'ls -A /etc/skel /etc/skel | wc -l'),
    'what the image brings is there, and nothing of the file system',
  );
  await sh(scene, greedy.handle, 'touch /workspace/made; test -O /workspace/made -a -O /workspace');
  t.match(
    await sh(scene, greedy.handle, 'dd if=/dev/zero of=/workspace/fill bs=1M 2>&1; :'),
    'No space left on device',
  );
  const used = await scene.runtime.usedBytes(greedy.spec.volume, {
    image: scene.image,
    running: greedy.handle,
  });
  t.ok(used !== null && used >= 64 * 1_048_576 && used < 96 * 1_048_576, `${used} bytes for 64 MB`);
  await sh(scene, neighbour.handle, 'head -c 30000000 /dev/zero > /workspace/fits');
  t.equal(await sh(scene, greedy.handle, 'echo alive'), 'alive');
  await sh(scene, greedy.handle, 'rm /workspace/fill');
  await sh(scene, greedy.handle, 'head -c 30000000 /dev/zero > /workspace/fits');
  const { diskBytes } = await scene.insight.usage(greedy.handle);
  t.ok(diskBytes !== null && diskBytes >= 30_000_000 && diskBytes < 60_000_000, 'seen from inside');
  await greedy.end();
  t.equal((await attached(scene.folder)).length, 1, 'only that of the neighbour');
}

async function sizes(t: Test, scene: Scene): Promise<void> {
  const { runtime, image } = scene;
  const spec = specOf(scene, 64);
  const [handle, same] = await Promise.all([runtime.create(spec), runtime.create(spec)]);
  t.same(same, handle, 'two at once make one container with one volume');
  await Promise.all([runtime.start(handle), runtime.start(handle)]);
  const read =
    'cat /workspace/a/canary; readlink /workspace/link; stat -c "%a %u" /workspace/a; sha256sum < /workspace/some';
  await sh(
    scene,
    handle,
    'cd /workspace; mkdir -m 750 a; echo kept > a/canary; ln -s a link; chown 7 a; head -c 10000000 /dev/urandom > some',
  );
  const before = await sh(scene, handle, read);
  let [current, generation] = [handle, 1];
  const change = async (diskMb: number): Promise<void> => {
    generation += 1;
    const next = await runtime.create({ ...spec, generation, resources: { ...spec.resources, diskMb } });
    await runtime.stop(current, 1);
    await runtime.start(next).catch(async (error: unknown) => {
      await runtime.remove(next);
      await runtime.start(current);
      throw error;
    });
    await runtime.remove(current);
    current = next;
  };
  const sizeMb = async (): Promise<number> =>
    Number(await sh(scene, current, 'df -Pm /workspace | { read -r h; read -r d size rest; echo $size; }'));
  await change(256);
  t.ok((await sizeMb()) >= 256);
  t.equal(await sh(scene, current, read), before, 'grown');
  await change(128);
  const shrunkMb = await sizeMb();
  t.ok(shrunkMb >= 128 && shrunkMb < 200);
  t.equal(await sh(scene, current, read), before, 'shrunk');
  await sh(scene, current, 'head -c 80000000 /dev/zero > /workspace/more');
  await t.rejects(
    change(64),
    { name: 'RuntimeFailure', message: /shrink/ },
    'what does not fit is not shrunk',
  );
  t.ok((await sizeMb()) >= 128);
  t.equal(await sh(scene, current, read), before, 'the earlier container runs on all of it');
  const used = await runtime.usedBytes(spec.volume, { image, running: null });
  t.ok(used !== null && used > 85_000_000);
  await Promise.all([runtime.remove(current), runtime.remove(current)]);
  await runtime.removeVolume(spec.volume);
  t.same(await attached(scene.folder), []);
  t.same(
    readdirSync(path.join(scene.folder, 'volumes')).filter((name) => name.startsWith(spec.volume)),
    [],
  );
}

type Running = Awaited<ReturnType<typeof running>>;

async function unmounted(t: Test, scene: Scene, { spec, handle }: Running): Promise<void> {
  const { runtime, docker, disk } = scene;
  const mountPoint = path.dirname(disk.images?.dataOf(spec.volume) ?? '');
  await sh(scene, handle, 'echo kept > /workspace/canary');
  await run('umount', [mountPoint]);
  t.equal(await sh(scene, handle, 'cat /workspace/canary'), 'kept', 'one that runs does not notice');
  t.match(await runtime.usedBytes(spec.volume, { image: scene.image, running: handle }), Number);
  await runtime.stop(handle, 1);
  const left = () => attached(scene.folder);
  t.same(
    await eventually(left, ({ length }) => length === 0),
    [],
    'nothing is held for a container that is down',
  );
  await t.rejects(
    docker.getContainer(handle.runtimeId).start(),
    { message: /no such file/ },
    'not on an empty folder',
  );
  await runtime.start(handle);
  t.equal(await sh(scene, handle, 'cat /workspace/canary'), 'kept');
  await docker.getContainer(handle.runtimeId).kill();
  await run('umount', [mountPoint]);
  await Promise.all([runtime.start(handle), runtime.start(handle)]);
  t.equal(await sh(scene, handle, 'cat /workspace/canary'), 'kept', 'also when all of it was killed');
  t.equal((await attached(scene.folder)).length, 1, 'one device for one image');
}

async function reused(t: Test, scene: Scene, { spec, handle }: Running): Promise<void> {
  const { runtime, disk } = scene;
  const image = disk.images?.imageOf(spec.volume) ?? '';
  await runtime.stop(handle, 1);
  const folder = aFolder(t);
  const at = (name: string): string => path.join(folder, name);
  await run('cp', ['--sparse=always', image, at('other.img')]);
  mkdirSync(at('mnt'));
  await run('mount', ['-o', 'loop', at('other.img'), at('mnt')]);
  writeFileSync(at(`mnt/${DATA_FOLDER}/canary`), 'of another');
  await run('umount', [at('mnt')]);
  const hold = `mount -o loop "$0" "$1" && until [ ! -e "$2" ]; do sleep 0.1; done`;
  writeFileSync(at('holder'), '');
  writeFileSync(at('losetup'), LATE_LOSETUP, { mode: 0o755 });
  const holding = run('unshare', [
    '--mount',
    'sh',
    '-c',
    FORGET_MOUNTS + hold,
    image,
    at('mnt'),
    at('holder'),
  ]);
  await waitFor(async () => (await attached(scene.folder)).length === 1, { what: 'the image has a device' });
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder}:${before}`;
  try {
    await runtime.start(handle);
  } finally {
    process.env['PATH'] = before;
  }
  t.match(await holding, { code: 0 });
  t.equal(await sh(scene, handle, 'cat /workspace/canary'), 'kept');
  const { stdout } = await run('losetup', ['-n', '-O', 'NAME', '-j', at('other.img')]);
  await run('losetup', ['-d', stdout.trim()]);
}

async function missing(t: Test, { runtime, disk }: Scene, { spec, handle }: Running): Promise<void> {
  const image = disk.images?.imageOf(spec.volume) ?? '';
  await runtime.stop(handle, 1);
  await run('mv', [image, `${image}.away`]);
  await t.rejects(runtime.start(handle), { name: 'RuntimeFailure', message: /missing/ });
  await t.rejects(runtime.create({ ...spec, generation: 2 }), { name: 'RuntimeFailure', message: /missing/ });
  t.equal(existsSync(image), false);
  await run('mv', [`${image}.away`, image]);
}

async function forgotten(t: Test, scene: Scene, { spec, handle }: Running): Promise<void> {
  const { runtime, docker } = scene;
  await runtime.remove(handle);
  await docker.getVolume(spec.volume).remove();
  t.equal(await runtime.volumeExists(spec.volume), true);
  const again = await runtime.create({ ...spec, generation: 2 });
  await runtime.start(again);
  t.equal(await sh(scene, again, 'cat /workspace/canary'), 'kept');
}
