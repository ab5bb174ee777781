import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type Docker from 'dockerode';
import pg from 'pg';
import { networkName } from '../../../src/adapters/docker/engine/engine-names.ts';
import { isRoot, removeCgroups, run } from '../../../src/adapters/docker/host/host-commands.ts';
import { removeFirewall } from '../../../src/adapters/docker/network/firewall.ts';
import { removeFromEngine } from '../../../src/adapters/docker/uninstall/engine-leftovers.ts';
import { runningEmbeddedUrl } from '../../../src/adapters/postgres/embedded/index.ts';
import { waitFor } from '../patience.ts';
import type { TestEngine } from './engine.ts';

type Engine = { readonly docker: Docker; readonly isLocal: boolean };

/** The id of the installation of a data folder, or of the database in its settings. */
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
 * Removes everything of an installation from an engine: containers, volumes, images, its network and rules. Work
 * started by a killed service may still arrive, and a network in use cannot be removed: then it starts over.
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
  await removeFromEngine(engine.docker, instanceId);
  await removeNetwork(engine, instanceId);
}

/** Removes the network, its rules and the containers' control group, once no container is left, if present. */
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

/** The engine's process and a container's shim; null where they are not on this machine. */
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

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const nameOf = (pid: number): string => read(`/proc/${pid}/comm`).trim();

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

/** It has ended meanwhile. */
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

/** Whether dirty pages of an image's loop device are limited; null where the kernel cannot. */
export async function isBound(image: string): Promise<boolean | null> {
  const { stdout } = await run('losetup', ['-n', '-O', 'NAME,MAJ:MIN,DIO', '-j', image]);
  const [, device = '', isDirect] = stdout.trim().split(/\s+/);
  const bound = `/sys/class/bdi/${device}/strict_limit`;
  if (!existsSync(bound)) return null;
  return isDirect === '1' && read(bound).trim() === '1';
}
