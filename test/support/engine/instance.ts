import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type Docker from 'dockerode';
import pg from 'pg';
import {
  CANARY_LABEL,
  INSTANCE_LABEL,
  networkName,
  PASSING_LABEL,
} from '../../../src/adapters/docker/engine/engine-names.ts';
import { isRoot, removeCgroups, run } from '../../../src/adapters/docker/host/host-commands.ts';
import { removeFirewall } from '../../../src/adapters/docker/network/firewall.ts';
import { runningEmbeddedUrl } from '../../../src/adapters/postgres/embedded/index.ts';
import { waitFor } from '../patience.ts';
import type { TestEngine } from './engine.ts';

type Engine = { readonly docker: Docker; readonly isLocal: boolean };

/** The id of the installation that runs on a data folder, or on the database that its settings name. */
export async function installationOf(dataDir: string, databaseUrl: string | undefined): Promise<string> {
  const connectionString = databaseUrl ?? (await runningEmbeddedUrl(path.join(dataDir, 'postgres')));
  const db = new pg.Client({ connectionString });
  await db.connect();
  try {
    const { rows } = await db.query<{ id: string }>('select id from installation');
    return rows[0]?.id ?? '';
  } finally {
    await db.end();
  }
}

/**
 * Removes all that an installation has in an engine: containers, volumes, images, its network with its rules. What a service
 * that was killed had begun may still come, and the engine removes no network that is in use: then all of it is done once more.
 */
export async function removeInstance(engine: Engine, instanceId: string): Promise<void> {
  let fault: unknown = null;
  const isGone = () =>
    removeOnce(engine, instanceId).then(
      () => true,
      (error) => {
        fault = error;
        return false;
      },
    );
  await waitFor(isGone, { everyMs: 100, what: () => `an engine without ${instanceId}: ${fault}` });
}

async function removeOnce(engine: Engine, instanceId: string): Promise<void> {
  const { docker } = engine;
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`] };
  // A service that was killed leaves also what is nobody's workspace: its canary in the network, and what fills or measures a volume.
  for (const label of [INSTANCE_LABEL, CANARY_LABEL, PASSING_LABEL]) {
    const ofLabel = { all: true, filters: { label: [`${label}=${instanceId}`] } };
    const containers = await docker.listContainers(ofLabel);
    await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
  }
  const { Volumes } = await docker.listVolumes({ filters });
  await Promise.all((Volumes ?? []).map(({ Name }) => docker.getVolume(Name).remove()));
  const images = await docker.listImages({ all: true, filters: JSON.stringify(filters) });
  for (const { Id } of images)
    await docker
      .getImage(Id)
      .remove({ force: true })
      .catch(() => {});
  await removeNetwork(engine, instanceId);
}

/** Removes the network with its rules and the group of its containers, once no container is left; absent is fine. */
export async function removeNetwork({ docker, isLocal }: Engine, instanceId: string): Promise<void> {
  await docker
    .getNetwork(networkName(instanceId))
    .remove()
    .catch((error: { readonly statusCode?: number }) => {
      if (error.statusCode !== 404) throw error;
    });
  if (!isLocal || !isRoot()) return;
  await removeFirewall(instanceId);
  await removeCgroups(instanceId);
}

type EngineProcesses = { readonly engine: number; readonly shim: number };

/** The engine's process and the one beside a container; null where they are not on this machine. */
export async function engineProcesses(
  { docker, endpoint }: TestEngine,
  runtimeId: string,
): Promise<EngineProcesses | null> {
  const { Pid } = (await docker.getContainer(runtimeId).inspect()).State;
  const engine = ownerOf(endpoint.replace('unix://', ''));
  const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${Pid}/status`))?.[1];
  if (engine === null || parent === undefined || !nameOf(Number(parent)).includes('shim')) return null;
  return { engine, shim: Number(parent) };
}

/** How many descriptors a process has open. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const nameOf = (pid: number): string => read(`/proc/${pid}/comm`).trim();

/** Which process listens on a unix socket. */
function ownerOf(socket: string): number | null {
  const inodes = read('/proc/net/unix')
    .split('\n')
    .filter((line) => line.endsWith(` ${socket}`))
    .map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find(
    (pid) => nameOf(Number(pid)) === 'dockerd' && linksOf(pid).some((link) => inodes.includes(link)),
  );
  return found === undefined ? null : Number(found);
}

function linksOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

/** What has ended meanwhile has nothing to say. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether the pages that wait to be written to the loop device of an image have a bound; null where this kernel has none. */
export async function isBound(image: string): Promise<boolean | null> {
  const { stdout } = await run('losetup', ['-n', '-O', 'NAME,MAJ:MIN,DIO', '-j', image]);
  const [, device = '', isDirect] = stdout.trim().split(/\s+/);
  const bound = `/sys/class/bdi/${device}/strict_limit`;
  if (!existsSync(bound)) return null;
  return isDirect === '1' && read(bound).trim() === '1';
}
