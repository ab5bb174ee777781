import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { freshDatabase } from '../database/database.ts';
import * as patient from '../patience.ts';
import { aPlace, type client, type Place } from './running-service.ts';

export const FAULTY = path.resolve('test/support/process/faulty-server.ts');
export const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
export const large = { ...small, memory_mb: 512 };

export type Call = ReturnType<typeof client>;

/** A running container with a file on its volume. */
export type Kept = { readonly dbId: string; readonly id: string };

export async function aKeptContainer(call: Call, name = 'kept'): Promise<Kept> {
  const { status, body } = await call('POST', '/api/containers', { name, ...small });
  if (status !== 201) throw new Error(`create answered ${status} ${JSON.stringify(body)}`);
  const { db_id: dbId, id } = body as { db_id: string; id: string };
  await inside(call, dbId, 'echo kept > /workspace/canary');
  return { dbId, id };
}

/** What a shell command in the container prints, or the refusal. */
export async function inside(call: Call, dbId: string, script: string): Promise<unknown> {
  const command = ['sh', '-c', script];
  const { body } = await call('POST', `/api/containers/${dbId}/exec`, { command });
  return body['stdout'] ?? body;
}

export const readCanary = (call: Call, dbId: string): Promise<unknown> =>
  inside(call, dbId, 'cat /workspace/canary');

/** Asks until the answer is as wanted; the last answer when it never is. */
export async function eventually<T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
  seconds = 60,
): Promise<T> {
  return await patient.eventually(ask, wanted, { patienceMs: seconds * 1000, everyMs: 100 });
}

/** State of a part as `/readyz` says it, or null while nobody answers. */
export const partState =
  (call: Call, part: 'engine' | 'database' | 'image') => async (): Promise<string | null> => {
    const { body } = await call('GET', '/readyz').catch(() => ({ body: {} }));
    return (body as { parts?: Record<string, { status: string }> }).parts?.[part]?.status ?? null;
  };

export const isReady = (state: string | null): boolean => state === 'ready';

/** A data folder and settings for a service on a migrated database of its own; null when the test was skipped. */
export async function aServicePlace(
  t: Test,
  settings: NodeJS.ProcessEnv = {},
): Promise<{ readonly place: Place; readonly url: string } | null> {
  const url = await freshDatabase(t);
  const place = url === null ? null : await aPlace(t, { DATABASE_URL: url, ...settings });
  return url === null || place === null ? null : { place, url };
}

/**
 * Where the faulty server of a place reads at which points of which operations the victim is killed next: the process whose
 * number is in the file, else the server itself. Each operation stays at its point until all have reached theirs.
 */
export function faultsOf(place: Place, victimFile?: string) {
  const file = path.join(place.dataDir, 'fault');
  const env = { FAULT_FILE: file, FAULT_VICTIM: victimFile };
  return {
    place: { ...place, env: { ...place.env, ...env } },
    next: (...points: readonly string[]): void => writeFileSync(file, points.join('\n')),
  };
}
