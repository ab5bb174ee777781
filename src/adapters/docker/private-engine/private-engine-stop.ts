import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { LIMITS } from '../engine/engine-client.ts';
import { INSTANCE_LABEL } from '../engine/engine-names.ts';
import {
  type Log,
  mountsBelow,
  processes,
  removeCgroups,
  run,
  signal,
  startTicks,
} from '../host/host-commands.ts';
import { removeFirewall } from '../network/firewall.ts';
import { removeLink } from '../network/host-network.ts';
import { endView } from '../resource-view/resource-view.ts';
import { findDaemon } from './private-engine.ts';
import type { Layout } from './private-engine-paths.ts';

const GRACE_SECONDS = 3;
const DAEMON_SECONDS = 10;

/** Stops containers with SIGTERM first, then the engine, and leaves no process, bridge, rule or mount. Never throws. */
export async function stopPrivateEngine(at: Layout, docker: Docker, log: Log): Promise<void> {
  const networks = await networksOf(docker).catch(() => []);
  await stopContainers(docker, log).catch((error) => log.warn(`stopping containers: ${String(error)}`));
  await clearPrivateEngine(at);
  await Promise.all(networks.map(({ bridge }) => removeLink(bridge)));
  for (const { instance } of networks) {
    if (instance === null) continue;
    await removeFirewall(instance).catch((error) => log.warn(`packet filter: ${String(error)}`));
    await removeCgroups(instance);
  }
}

/** Ends the processes of a private engine and removes its mount and bridge, if present. */
export async function clearPrivateEngine(at: Layout): Promise<void> {
  await stopDaemon(at);
  await endLeftovers(at);
  await removeLink(at.bridge);
  await endView(at);
  // Mounts that a killed engine made for its containers first, then the storage.
  const mounts = await mountsBelow(at.run);
  for (const path of mounts.toReversed()) await run('umount', ['--lazy', path]);
  if ((await mountsBelow(at.run)).length === 0) await rm(at.run, { recursive: true, force: true });
}

async function stopContainers(docker: Docker, log: Log): Promise<void> {
  const running = await docker.listContainers({ abortSignal: AbortSignal.timeout(LIMITS.list * 1000) });
  const stopOne = (id: string): Promise<unknown> =>
    docker.getContainer(id).stop({ t: GRACE_SECONDS, abortSignal: AbortSignal.timeout(15_000) });
  const outcomes = await Promise.allSettled(running.map(({ Id }) => stopOne(Id)));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') log.warn(`a container did not stop: ${outcome.reason}`);
}

type Bridged = { readonly bridge: string; readonly instance: string | null };

async function networksOf(docker: Docker): Promise<readonly Bridged[]> {
  const all = await docker.listNetworks({ abortSignal: AbortSignal.timeout(LIMITS.list * 1000) });
  return all
    .filter((each) => each.Driver === 'bridge' && each.Name !== 'bridge')
    .map((each) => ({
      bridge: each.Options?.['com.docker.network.bridge.name'] ?? `br-${each.Id.slice(0, 12)}`,
      instance: each.Labels?.[INSTANCE_LABEL] ?? null,
    }));
}

async function stopDaemon(at: Layout): Promise<void> {
  const daemon = await findDaemon(at);
  if (daemon === null) return;
  const ended = async (): Promise<boolean> => (await startTicks(daemon.pid)) === null;
  signal(daemon.pid, 'SIGTERM');
  if (await pollUntil(ended, { withinMs: DAEMON_SECONDS * 1000 })) return;
  signal(daemon.pid, 'SIGKILL');
  await pollUntil(ended, { withinMs: DAEMON_SECONDS * 1000 });
}

/** containerd and shims of this engine that dockerd left. */
async function endLeftovers(at: Layout): Promise<void> {
  const ours = async (): Promise<readonly number[]> =>
    (await processes()).filter(({ argv }) => isHelper(argv, at)).map(({ pid }) => pid);
  const areGone = async (): Promise<boolean> => (await ours()).length === 0;
  if (await pollUntil(areGone, { withinMs: 2_000 })) return;
  for (const pid of await ours()) signal(pid, 'SIGKILL');
  await pollUntil(areGone, { withinMs: 5_000 });
}

const isHelper = (argv: readonly string[], at: Layout): boolean =>
  basename(argv[0] ?? '').startsWith('containerd') && argv.some((arg) => arg.includes(`${at.execRoot}/`));
