import t from 'tap';
import { dockerRuntime } from '../../src/adapters/docker/container-runtime.ts';
import { runtimeSettings } from '../../src/adapters/docker/runtime-settings.ts';
import { ensureTools } from '../../src/adapters/docker/tools-volume.ts';
import { terminalInput } from '../contract/terminal-input.ts';
import { bareImage } from '../support/bare-image.ts';
import { aSpec } from '../support/container-spec.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine.ts';
import { shellIn } from '../support/inside.ts';

t.setTimeout(300_000);
const PLAIN = { BERTH_TMUX: 'off' };

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('Debian', async (t) => {
    const box = await aBox(instance, instance.image, '/bin/bash');
    await box.sh('tmux -u -S /run/berth-tmux -f /dev/null new-session -d -s earlier');
    await terminalInput(t, 'a tmux server with other settings', box);
    await terminalInput(t, 'a plain shell', await aBox(instance, instance.image, '/bin/bash', PLAIN));
  });
  await t.test('BusyBox', async (t) => {
    const image = await bareImage(t, instance);
    if (image === null) return void t.pass('BusyBox', { skip: 'no package busybox-static can be had' });
    await terminalInput(t, 'tmux of the installation', await aBox(instance, image, '/bin/sh'));
    await terminalInput(t, 'a plain shell', await aBox(instance, image, '/bin/sh', PLAIN));
  });
}

/** A running container of this image that finds the tools of the installation. */
async function aBox(
  { docker, instanceId, network, terminals, image: base }: TestInstance,
  image: string,
  shell: string,
  env: Readonly<Record<string, string>> = {},
) {
  const tools = await ensureTools(docker, { instanceId, image: base });
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  const runtime = dockerRuntime(docker, { ...settings, tools: () => tools });
  const handle = await runtime.create(aSpec(image, { env }));
  await runtime.start(handle);
  return { terminals, handle, shell, sh: shellIn(runtime, handle) };
}
