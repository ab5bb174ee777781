/**
 * One installation as it comes, with an engine and a database of its own, and two people on it who know nothing of each other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { administrator, type Client, client } from '../client.ts';
import { startWholeService } from '../whole-service.ts';

export type Tenant = Client & {
  readonly address: string;
  /** Their container, which runs. */
  readonly box: string;
};

export type Scene = {
  readonly attacker: Tenant;
  readonly neighbour: Tenant;
  stop(): Promise<void>;
};

const MANY_CONTAINERS = 500;
const DEFAULT_REQUESTS_PER_MINUTE = 600;
export const RESOURCES = { memory_mb: 512, cpu_shares: 1000, disk_mb: 512 };

export async function aScene(): Promise<Scene> {
  const service = await startWholeService({ BERTH_ENGINE: 'auto' });
  try {
    await ready(service.address);
    const admin = await administrator(service.address, service.setupCode);
    await admin.call('PATCH', '/api/admin/settings', {
      requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
      open_registration: true,
    });
    // What was created and deleted to be measured counts until its volume is gone.
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

/** Works with an API token: a login token ends after 15 minutes. */
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
