import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { provision } from '../../../../src/adapters/docker/images/base-image-from-registry.ts';
import { BASE_LABEL, BASE_VERSION } from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { silentLog } from '../../../support/samples/samples.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('the base image has what a workspace needs', (t) => contents(t, instance, engine.image));
  await t.test('a base image is made from a public one', (t) => fromPublic(t, instance));
}

async function contents(t: Test, { runtime, commands }: TestInstance, image: string): Promise<void> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const sh = (script: string): Promise<string> => output(commands, handle, script);
  const tools = ['bash', 'tmux', 'git', 'curl', 'ssh', 'ps', 'less', 'vi', 'nano', 'ping'];
  const absent = `for tool in ${tools.join(' ')}; do case $(command -v $tool) in /*) ;; *) echo $tool;; esac; done`;
  t.equal(await sh(absent), '', 'every tool is there');
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
  const lists = await sh('du -sm /var/lib/apt/lists | cut -f1; apt-get -q install --simulate htop');
  t.match(lists, /^Inst htop /m, 'a package is found before the first update');
  t.ok(Number.parseInt(lists, 10) < 20, `the lists are small: ${lists.split('\n')[0]} MB`);
  await runtime.remove(handle);
}

async function fromPublic(
  t: Test,
  { docker, image, network, runtime, commands }: TestInstance,
): Promise<void> {
  const draft = { repo: 'berth/test-made', tag: randomBytes(4).toString('hex') };
  const reference = `${draft.repo}:${draft.tag}`;
  t.teardown(() => docker.getImage(reference).remove({ force: true }));
  const settings = { reference, progress: () => {}, log: silentLog, allowPull: false, network: network.name };
  await provision(docker, image, draft, settings);
  const info = await docker.getImage(reference).inspect();
  t.match(info.Config, {
    WorkingDir: '/workspace',
    Labels: { [BASE_LABEL]: BASE_VERSION },
    Cmd: ['/bin/bash', '-l'],
  });
  t.ok(info.Config.Env.includes('LANG=C.UTF-8'));
  const handle = await runtime.create(aSpec(reference));
  await runtime.start(handle);
  t.equal(await output(commands, handle, 'tmux -V | cut -d" " -f1'), 'tmux');
  t.match(await output(commands, handle, 'apt-get -q install --simulate htop'), /^Inst htop /m);
  await runtime.remove(handle);
}

async function output(
  commands: TestInstance['commands'],
  handle: RuntimeHandle,
  script: string,
): Promise<string> {
  return (await runIn(commands, handle, ['bash', '-lc', script])).stdout.toString().trim();
}
