import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { run } from '../../../src/adapters/docker/host/host-commands.ts';
import type { TestEngine } from './engine.ts';

export type EngineProcesses = { readonly engine: number; readonly shim: number };

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
