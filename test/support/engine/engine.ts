import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type Docker from 'dockerode';
import type { Test } from 'tap';
import {
  type DockerAccess,
  dockerAccess,
  dockerTerminals,
} from '../../../src/adapters/docker/container-access.ts';
import { dockerRuntime } from '../../../src/adapters/docker/containers/container-runtime.ts';
import { runtimeSettings } from '../../../src/adapters/docker/containers/runtime-settings.ts';
import { pinCores } from '../../../src/adapters/docker/cores/core-spreader.ts';
import { addressOf, DEFAULT_SOCKET, probe } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { followToEnd } from '../../../src/adapters/docker/engine/engine-progress.ts';
import { isRoot, runOrThrow, which } from '../../../src/adapters/docker/host/host-commands.ts';
import { killFromHost } from '../../../src/adapters/docker/host/host-kill.ts';
import { BASE_CHANGES, BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { dockerWarmPoolEngine } from '../../../src/adapters/docker/images/container-images.ts';
import {
  ensureNetwork,
  type InstanceNetwork,
} from '../../../src/adapters/docker/network/instance-network.ts';
import {
  type Engine,
  openEngine,
  type RunningEngine,
} from '../../../src/adapters/docker/private-engine/open-engine.ts';
import { viewFault, viewMounts } from '../../../src/adapters/docker/resource-view/resource-view.ts';
import { COUNTED, type DiskSettings } from '../../../src/adapters/docker/volumes/container-volumes.ts';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import type { WarmPoolEngine } from '../../../src/ports/containers/container-images.ts';
import type { TerminalBackend } from '../../../src/ports/terminals/terminal-backend.ts';
import { needs } from '../run/infra.ts';
import { silentLog } from '../samples/samples.ts';
import { removeInstance } from './instance.ts';

export type TestEngine = {
  readonly docker: Docker;
  readonly kind: 'external' | 'private';
  readonly isLocal: boolean;
  readonly endpoint: string;
  readonly image: string;
  /** The folder of a private engine's resource view. */
  readonly view: string | null;
};

/** The run's engine, or null after skipping the test with the reason. */
export async function engineOrSkip(t: Test): Promise<TestEngine | null> {
  const part = await needs(t, 'engine');
  if (part === null) return null;
  return { ...part, ...(await engineAt(part.endpoint)) };
}

/** A new client of the engine. */
export async function engineAt(endpoint: string): Promise<Pick<TestEngine, 'docker' | 'isLocal'>> {
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers) throw new Error(`the test engine at ${endpoint} does not answer: ${answer.detail}`);
  return { docker: answer.docker, isLocal: endpoint.startsWith('unix:') };
}

export type TestInstance = TestEngine &
  DockerAccess & {
    readonly instanceId: string;
    readonly network: InstanceNetwork;
    readonly runtime: ContainerEngine;
    /** A runtime like that of a restarted service, without a record of earlier calls. */
    restarted(): Promise<ContainerEngine>;
    readonly terminals: TerminalBackend;
    readonly warmPool: WarmPoolEngine;
    /** One pass over the installation's containers. */
    spreadCores(): Promise<void>;
  };

/**
 * A new installation on the test engine, with this open file limit for its processes; everything with its label is
 * removed after the test.
 */
export async function testInstance(
  t: Test,
  engine: TestEngine,
  disk: (instanceId: string) => Promise<DiskSettings> = async () => COUNTED,
  openFiles?: number,
): Promise<TestInstance> {
  const instanceId = randomUUID();
  t.teardown(() => removeInstance(engine, instanceId));
  const network = await ensureNetwork(engine, { instanceId, log: silentLog });
  const settings = await runtimeSettings(engine.docker, { instanceId, network: network.name, node: 'test' });
  const { processLimits } = settings;
  const limits = openFiles === undefined ? processLimits : { ...processLimits, nofile: openFiles };
  const sizes = await disk(instanceId);
  const kill = engine.kind === 'private' ? killFromHost : null;
  const view = engine.view === null ? [] : viewMounts(engine.view);
  const pinned = engine.kind === 'private' ? await pinCores(engine.docker, instanceId) : null;
  const runtimeOn = (docker: Docker): ContainerEngine =>
    dockerRuntime(docker, {
      ...settings,
      processLimits: limits,
      disk: sizes,
      kill,
      view,
      cores: pinned?.choose,
    });
  const access = dockerAccess(engine.docker, instanceId);
  return {
    ...engine,
    ...access,
    instanceId,
    network,
    runtime: runtimeOn(engine.docker),
    restarted: async () => runtimeOn((await engineAt(engine.endpoint)).docker),
    terminals: dockerTerminals(engine.docker),
    warmPool: dockerWarmPoolEngine(engine.docker),
    spreadCores: async () => await pinned?.spread(),
  };
}

/** Whether containers of the run's engine see their own limits. */
export const showsLimits = async ({ view }: TestEngine): Promise<boolean> =>
  view !== null && (await viewFault(view)) === null;

/** Whether lxcfs can run on this machine. */
export const canRunLxcfs = async (): Promise<boolean> => {
  const device = await open('/dev/fuse', 'r+').catch(() => null);
  await device?.close();
  return device !== null && (await which('lxcfs')) !== null;
};

/** Why this machine cannot run a private engine, or null. */
export async function noEngineOfOurOwn(): Promise<string | null> {
  if (!isRoot()) return 'an engine of our own needs root';
  const { answers } = await probe(addressOf(`unix://${DEFAULT_SOCKET}`, null));
  return answers ? 'this machine has an engine, so Berth starts none of its own' : null;
}

/** A data folder's private engine, started as by the service. */
export async function openOwn(dataDir: string): Promise<RunningEngine> {
  const settings = { dataDir, mode: 'auto', dockerHost: null, progress: () => {}, log: silentLog } as const;
  const engine: Engine = await openEngine(settings);
  if (engine.kind === 'none') throw new Error(engine.mend);
  return engine;
}

/** Runs the work with a data folder's private engine, and stops it. */
async function whileOpen(dataDir: string, work: (docker: Docker) => Promise<void>): Promise<void> {
  const own = await openOwn(dataDir);
  await work(own.docker).finally(() => own.stop());
}

/** Copies the base image of the run's engine to a data folder's private engine. */
export const stockWithImage = (shared: TestEngine, dataDir: string): Promise<void> =>
  whileOpen(dataDir, async (docker) => {
    const image = await shared.docker.getImage(shared.image).get();
    await followToEnd(await docker.loadImage(image), () => {});
  });

/** The base image's shells, tmux and everyday tools with their libraries, collected in `/packed`. */
const PACK_TOOLS = `set -e
files=$(dpkg -L bash coreutils dash findutils grep libc-bin ncurses-base perl-base procps sed tmux util-linux | grep -v /share/)
for file in $files /usr/bin/awk /etc/passwd /etc/group; do [ ! -f "$file" ] || echo "$file"; done > /tmp/files
ldd $(grep -E '/s?bin/|[.]so' /tmp/files) 2>/dev/null | grep -oE '/[^ ]+ [(]0x' | cut -d ' ' -f 1 | sort -u >> /tmp/files
mkdir /packed
cp -L --parents $(cat /tmp/files) /packed`;

/**
 * Puts the everyday tools of the run's base image in its place in a data folder's private engine: a fraction of the
 * whole image's bytes.
 */
export const stockWithTools = (shared: TestEngine, dataDir: string): Promise<void> =>
  whileOpen(dataDir, async (docker) => {
    const container = await shared.docker.createContainer({
      Image: shared.image,
      Entrypoint: ['sh', '-c', PACK_TOOLS],
      Cmd: [],
      NetworkDisabled: true,
    });
    try {
      await container.start();
      const { StatusCode } = await container.wait();
      if (StatusCode !== 0) throw new Error(String(await container.logs({ stderr: true })));
      await importBase(docker, BASE_REFERENCE, await container.getArchive({ path: '/packed/.' }));
    } finally {
      await container.remove({ force: true });
    }
  });

/** The run's engine, where this machine can also run a private one; else the test is skipped. */
export async function bothEnginesOrSkip(t: Test): Promise<TestEngine | null> {
  const reason = await noEngineOfOurOwn();
  if (reason === null) return await engineOrSkip(t);
  t.pass('engine', { skip: reason });
  return null;
}

/**
 * Makes an image of this machine's programs and their libraries, without a download. It has the base image's settings,
 * so that the service accepts it as that.
 */
export async function tinyImage(
  docker: Docker,
  reference: string,
  programs: readonly string[],
): Promise<void> {
  const found = (await Promise.all(['sh', ...programs].map(which))).filter((path) => path !== null);
  const linked = await runOrThrow('ldd', found);
  const libraries = [...linked.matchAll(/(\/\S+)(?= \(0x)/g)].map((match) => match[1] ?? '');
  const files = [...new Set([...found, ...libraries])].filter((path) => existsSync(path));
  const archive = spawn('tar', ['-ch', ...files], { stdio: ['ignore', 'pipe', 'ignore'] });
  await importBase(docker, reference, archive.stdout);
}

/** Imports an archive of files as an image with the base image's settings. */
async function importBase(docker: Docker, reference: string, archive: NodeJS.ReadableStream): Promise<void> {
  const [repo = '', tag = 'latest'] = reference.split(':');
  const options = { repo, tag, changes: [...BASE_CHANGES] };
  await followToEnd(await docker.importImage(archive, options), () => {});
}
