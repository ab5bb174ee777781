/** One fresh installation with its own engine and database, and two users who do not know each other. */
import { setTimeout as delay } from 'node:timers/promises';
import { administrator, type Client, client, median } from '../load.ts';
import { answerKeys, type } from '../terminals/echo.ts';
import { type Line, promptOf, serviceLine } from '../terminals/scene.ts';
import { startWholeService } from '../whole-service.ts';

export type Tenant = Client & {
  readonly address: string;
  /** Their container, which runs. */
  readonly box: string;
};

type Scene = {
  readonly attacker: Tenant;
  readonly neighbour: Tenant;
  stop(): Promise<void>;
};

const MANY_CONTAINERS = 500;
const DEFAULT_REQUESTS_PER_MINUTE = 600;
const RESOURCES = { memory_mb: 512, cpu_shares: 1000, disk_mb: 512 };

export async function aScene(): Promise<Scene> {
  const service = await startWholeService({ BERTH_ENGINE: 'auto' });
  try {
    await ready(service.address);
    const admin = await administrator(service.address, service.setupCode);
    await admin.call('PATCH', '/api/admin/settings', {
      requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
      open_registration: true,
    });
    // Deleted containers count until their volume is gone.
    await admin.call('PATCH', '/api/admin/tiers/pro', { max_containers: MANY_CONTAINERS });
    const attacker = await aTenant(admin, service.address, 'attacker', 'free');
    const neighbour = await aTenant(admin, service.address, 'neighbour', 'pro');
    return { attacker, neighbour, stop: service.stop };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** The base image is built at the first start. */
async function ready(address: string): Promise<void> {
  while ((await fetch(`${address}/readyz`)).status !== 200) await delay(500);
}

/** Uses an API token: a login token ends after 15 minutes. */
async function aTenant(admin: Client, address: string, username: string, tier: string): Promise<Tenant> {
  const person = { email: `${username}@example.org`, username, password: 'correct horse battery' };
  type Registered = { token: string; user: { id: string } };
  const { token, user } = await client(address, null).call<Registered>('POST', '/api/auth/register', person);
  await admin.call('PATCH', `/api/admin/users/${user.id}`, { tier });
  const made = await client(address, token).call<{ token: string }>('POST', '/api/tokens', {
    name: 'bench',
    scopes: ['read', 'write'],
  });
  const caller = client(address, made.token);
  const { db_id } = await caller.call<{ db_id: string }>('POST', '/api/containers', {
    name: username,
    ...RESOURCES,
  });
  return { ...caller, address, box: db_id };
}

// The neighbour's measurements: a key's echo, a command, a new container.

const KEYS = 60;
const KEY_PAUSE_MS = 20;
const COMMANDS = 7;
const CREATES = 3;
const REFUSED_PAUSE_MS = 1_000;

/** Medians, in milliseconds. */
type Noticed = { readonly echo: number; readonly exec: number; readonly create: number };
export const MEASURES = ['echo', 'exec', 'create'] as const satisfies readonly (keyof Noticed)[];

type Watcher = {
  measure(): Promise<Noticed>;
  close(): Promise<void>;
};

export async function watcherOf(neighbour: Tenant): Promise<Watcher> {
  const at = { address: neighbour.address, token: neighbour.token ?? '' };
  const line = await promptOf(await serviceLine(at, neighbour.box, 'bench'));
  await answerKeys(line);
  let made = 0;
  return {
    async measure() {
      const echo = median(await typed(line));
      const exec = median(await times(COMMANDS, () => command(neighbour)));
      const create = median(
        await times(CREATES, () => {
          made += 1;
          return created(neighbour, `made-${made}`);
        }),
      );
      return { echo, exec, create };
    },
    close: () => line.close(),
  };
}

const typed = (line: Line): Promise<number[]> => type(line, KEYS, KEY_PAUSE_MS);

const command = ({ call, box }: Tenant): Promise<number> =>
  timed(() => call('POST', `/api/containers/${box}/exec`, { command: ['true'] }));

/** Until it runs, without the delete. */
async function created({ call }: Tenant, name: string): Promise<number> {
  let id = '';
  const ms = await timed(async () => {
    ({ db_id: id } = await call<{ db_id: string }>('POST', '/api/containers', { name, ...RESOURCES }));
    for (;;) {
      const { status } = await call<{ status: string }>('GET', `/api/containers/${id}`);
      if (status !== 'creating' && status !== 'starting') return;
      await delay(100);
    }
  });
  await patiently(() => call('DELETE', `/api/containers/${id}`));
  await patiently(() => call('POST', `/api/containers/${id}/purge`, { name }));
  return ms;
}

/** A temporary refusal is retried. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === 60 || !/answered (409|429|503)/.test(`${error}`)) throw error;
      await delay(REFUSED_PAUSE_MS);
    }
  }
}

async function times(count: number, work: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push(await work());
  return all;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
