import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import {
  dockerAt,
  type EngineAddress,
  engineInfo,
  engineVersion,
  LIMITS,
  ping,
  statusOf,
} from './engine-client.ts';

export type EngineVersion = {
  readonly engine: string;
  readonly runc: string | null;
  readonly apiVersion: string;
  readonly isPodman: boolean;
};

export type Probe =
  | { readonly answers: true; readonly docker: Docker; readonly version: EngineVersion }
  | { readonly answers: false; readonly reason: 'absent' | 'forbidden' | 'silent'; readonly detail: string };

export const DEFAULT_SOCKET = '/var/run/docker.sock';

/** The address of a DOCKER_HOST value: unix:///path, tcp://host:port or http(s)://host:port. Throws for others. */
export function addressOf(dockerHost: string, certPath: string | null): EngineAddress {
  if (dockerHost.startsWith('unix://'))
    return { socketPath: dockerHost.slice('unix://'.length) || DEFAULT_SOCKET };
  const url = new URL(dockerHost.includes('://') ? dockerHost : `tcp://${dockerHost}`);
  if (!['tcp:', 'http:', 'https:'].includes(url.protocol)) throw new Error(`cannot use ${url.protocol}//`);
  if (url.hostname === '') throw new Error('the address has no host');
  const secure = url.protocol === 'https:' || url.port === '2376' || certPath !== null;
  const file = (name: string): Buffer => readFileSync(join(certPath ?? '', name));
  const tls = secure ? { ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') } : null;
  return { host: url.hostname, port: Number(url.port || (secure ? 2376 : 2375)), tls };
}

/** Asks what answers there, within `seconds`, and for its version. Never throws. */
export async function probe(address: EngineAddress, seconds: number = LIMITS.connect): Promise<Probe> {
  const docker = dockerAt(address);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), seconds * 1000);
  try {
    await ping(docker, abort.signal);
    // Podman asks its helpers for theirs, which takes seconds on a busy machine.
    const patience = AbortSignal.timeout(LIMITS.inspect * 1000);
    const answer = (await engineVersion(docker, patience)) as unknown as RawVersion;
    return { answers: true, docker, version: versionOf(answer) };
  } catch (error) {
    return {
      answers: false,
      reason: reasonOf(error),
      detail: error instanceof Error ? error.message : String(error),
    };
  } finally {
    clearTimeout(timer);
  }
}

/** By which an engine is known at each of its addresses; null when it has no lasting one, or does not answer. */
export async function engineIdOf({
  docker,
  version,
}: Pick<Extract<Probe, { answers: true }>, 'docker' | 'version'>): Promise<string | null> {
  // Podman gives another one in each answer.
  if (version.isPodman) return null;
  const answer = engineInfo(docker, AbortSignal.timeout(LIMITS.inspect * 1000)) as Promise<{ ID?: string }>;
  return await answer.then(
    ({ ID }) => ID || null,
    () => null,
  );
}

function reasonOf(error: unknown): 'absent' | 'forbidden' | 'silent' {
  const code = (error as { code?: string }).code;
  if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
  return code === 'ENOENT' || code === 'ECONNREFUSED' || statusOf(error) !== null ? 'absent' : 'silent';
}

type RawVersion = {
  readonly Version?: string;
  readonly ApiVersion?: string;
  readonly Components?: readonly { readonly Name: string; readonly Version: string }[];
};

function versionOf(raw: RawVersion): EngineVersion {
  const parts = raw.Components ?? [];
  return {
    engine: raw.Version ?? 'unknown',
    runc: parts.find((part) => part.Name === 'runc')?.Version ?? null,
    apiVersion: raw.ApiVersion ?? '1.24',
    isPodman: parts.some((part) => part.Name.toLowerCase().includes('podman')),
  };
}

/** The oldest API with everything that Berth uses: Docker 20.10. */
const OLDEST_API = '1.41';
const FLOOR = { engine: '29.5.1', runc: ['1.2.8', '1.3.3'] } as const;

/** Negative when `a` is older. Only leading numbers count: `1.1.5+ds1` is 1.1.5. */
export function compareVersions(a: string, b: string): number {
  const numbers = (text: string): number[] => (/^\d+(\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Why this engine cannot be used, or null. */
export const tooOld = (version: EngineVersion): string | null =>
  !version.isPodman && compareVersions(version.apiVersion, OLDEST_API) < 0
    ? `Docker ${version.engine} is too old; version 20.10 or newer is required`
    : null;

/** A warning about missing fixes for known container escapes, or null. */
export function floorWarning(version: EngineVersion): string | null {
  const { engine, runc, isPodman } = version;
  const old =
    isPodman || compareVersions(engine, FLOOR.engine) >= 0
      ? []
      : [`Docker ${engine} is below ${FLOOR.engine}`];
  if (runc !== null && runcIsOld(runc)) old.push(`runc ${runc} is below ${FLOOR.runc.join(' and ')}`);
  return old.length === 0
    ? null
    : `${old.join(', ')}: fixes for known container escapes may be missing. How to get a newer engine: docs/engine.md`;
}

function runcIsOld(runc: string): boolean {
  const [older, newer] = FLOOR.runc;
  return (
    compareVersions(runc, older) < 0 ||
    (compareVersions(runc, '1.3') >= 0 && compareVersions(runc, newer) < 0)
  );
}
