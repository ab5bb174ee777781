import t from 'tap';
import { dockerRuntime } from '../../src/adapters/docker/container-runtime.ts';
import { runtimeSettings } from '../../src/adapters/docker/runtime-settings.ts';
import { ensureTools } from '../../src/adapters/docker/tools-volume.ts';
import type { ContainerSpec } from '../../src/ports/container-runtime.ts';
import { terminalInput } from '../contract/terminal-input.ts';
import { aSpec, shellIn } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { needs } from '../support/run/needs.ts';

t.setTimeout(300_000);
const PLAIN = { BERTH_TMUX: 'off' };

const engine = await engineOrSkip(t);
const busybox = engine && (await needs(t, 'busybox'));
if (engine !== null && busybox !== null) {
  const instance = await testInstance(t, engine);
  const tools = await ensureTools(instance.docker, instance);
  const box = (image: string, shell: string, env = {}) => aBox(instance, tools, aSpec(image, { env }), shell);
  await t.test('Debian', async (t) => {
    const other = await box(instance.image, '/bin/bash');
    await other.sh('tmux -u -S /run/berth-tmux -f /dev/null new-session -d -s earlier');
    await terminalInput(t, 'a tmux server with other settings', other);
    await terminalInput(t, 'a plain shell', await box(instance.image, '/bin/bash', PLAIN));
  });
  await t.test('BusyBox', async (t) => {
    await terminalInput(t, 'tmux of the installation', await box(busybox.bare, '/bin/sh'));
    await terminalInput(t, 'a plain shell', await box(busybox.bare, '/bin/sh', PLAIN));
  });
}

/** A running container that finds the tools of the installation in this volume. */
async function aBox(
  { docker, instanceId, network, terminals }: TestInstance,
  tools: string,
  spec: ContainerSpec,
  shell: string,
) {
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  const runtime = dockerRuntime(docker, { ...settings, tools: () => tools });
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  return { terminals, handle, shell, sh: shellIn(runtime, handle) };
}
