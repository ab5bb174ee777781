import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { followToEnd } from '../../../../src/adapters/docker/engine/engine-progress.ts';
import { isRoot } from '../../../../src/adapters/docker/host/host-commands.ts';
import { ensureBaseImage, imageLabels } from '../../../../src/adapters/docker/images/base-image.ts';
import { provision } from '../../../../src/adapters/docker/images/base-image-from-registry.ts';
import {
  BASE_LABEL,
  BASE_VERSION,
  type BaseImageSettings,
} from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { aSpec } from '../../../support/engine/container.ts';
import {
  engineOrSkip,
  type TestEngine,
  type TestInstance,
  testInstance,
} from '../../../support/engine/engine.ts';
import { silentLog } from '../../../support/silent-log.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('an image that is there is not made again', (t) => present(t, engine));
  await t.test('the image has what a workspace needs', (t) => contents(t, instance, engine.image));
  await t.test('an image is made from a public one', (t) => fromPublic(t, instance));
  await t.test('an image that nobody has is refused', (t) => absentImage(t, instance));
  if (isRoot())
    await t.test('a build that breaks off leaves nothing that counts as the image', (t) =>
      brokenBuild(t, engine),
    );
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

async function contents(t: Test, { runtime }: TestInstance, image: string): Promise<void> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const sh = (script: string): Promise<string> => output(runtime, handle, script);
  for (const tool of ['bash', 'tmux', 'git', 'curl', 'ssh', 'ps', 'less', 'vi', 'nano', 'ping']) {
    t.match(await sh(`command -v ${tool}`), /^\//, tool);
  }
  t.equal(
    await sh('id -u; echo $HOME; cd; pwd; ls -A'),
    '0\n/workspace\n/workspace\n.bash_logout\n.bashrc\n.profile',
  );
  t.equal(await sh('locale charmap; printf ä | wc -m'), 'UTF-8\n1', 'a UTF-8 locale');
  t.match(
    await sh('infocmp -1 tmux-256color | head -3; infocmp xterm-256color | head -3'),
    /tmux-256color[\s\S]*xterm-256color/,
  );
  t.match(await sh('ls /etc/ssl/certs/ca-certificates.crt'), /ca-certificates/);
  t.match(await sh('grep -rhE "^(deb|URIs)" /etc/apt/sources.list /etc/apt/sources.list.d'), /https?:\/\//);
  await runtime.remove(handle);
}

async function fromPublic(t: Test, { docker, image, network, runtime }: TestInstance): Promise<void> {
  const draft = { repo: 'berth/test-made', tag: randomBytes(4).toString('hex') };
  const reference = `${draft.repo}:${draft.tag}`;
  t.teardown(() => docker.getImage(reference).remove({ force: true }));
  await provision(docker, image, draft, { ...settings(reference), network: network.name });
  const info = await docker.getImage(reference).inspect();
  t.match(info.Config, {
    WorkingDir: '/workspace',
    Labels: { [BASE_LABEL]: BASE_VERSION },
    Cmd: ['/bin/bash', '-l'],
  });
  t.ok(info.Config.Env.includes('LANG=C.UTF-8'));
  const handle = await runtime.create(aSpec(reference));
  await runtime.start(handle);
  t.equal(await output(runtime, handle, 'tmux -V | cut -d" " -f1'), 'tmux');
  await runtime.remove(handle);
}

async function brokenBuild(t: Test, { docker }: TestEngine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-build-'));
  const path = process.env['PATH'];
  t.teardown(async () => {
    process.env['PATH'] = path;
    await rm(folder, { recursive: true });
  });
  // What a killed build looks like to the engine: a good archive that ends early.
  await writeFile(
    join(folder, 'mmdebstrap'),
    '#!/bin/sh\ntar -c /etc/hostname\necho "E: out of luck" >&2\nexit 25\n',
  );
  await chmod(join(folder, 'mmdebstrap'), 0o755);
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  const reference = `berth/test-broken:${randomBytes(4).toString('hex')}`;
  await t.rejects(ensureBaseImage(docker, settings(reference)), { message: /out of luck/ });
  t.equal(await imageLabels(docker, reference), null);
  const old = `${reference}-old`;
  const archive = spawn('tar', ['-c', '/etc/hostname'], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout;
  const [repo, tag] = old.split(':');
  const imported = await docker.importImage(archive, { repo, tag, changes: [`LABEL ${BASE_LABEL}=older`] });
  await followToEnd(imported, () => {});
  t.teardown(() => docker.getImage(old).remove());
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  t.match(await ensureBaseImage(docker, { ...settings(old), log }), { how: 'present' });
  t.match(warnings, [/older version.*out of luck/], 'an older one that can not be made again stays');
  const drafts = await docker.listImages({ filters: { reference: ['berth/draft'] } });
  t.same(drafts, [], 'no draft is left either');
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

async function output(
  runtime: TestInstance['runtime'],
  handle: RuntimeHandle,
  script: string,
): Promise<string> {
  const request = { command: ['bash', '-lc', script], timeoutSeconds: 20, maxOutputBytes: 10_000 };
  return (await runtime.exec(handle, request)).stdout.toString().trim();
}
