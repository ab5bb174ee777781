import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import type { Database } from '../../../src/adapters/postgres/schema/database-schema.ts';
import type { Container } from '../../../src/domain/containers/container.ts';
import type { User } from '../../../src/domain/identity/user.ts';
import type { NewContainer } from '../../../src/ports/containers/container-repository.ts';
import type { NewSnapshot } from '../../../src/ports/containers/snapshots/snapshot-repository.ts';
import type { NewUser } from '../../../src/ports/identity/user-repository.ts';
import type { Repositories, Storage } from '../../../src/ports/storage.ts';
import type { NewTerminalRecord } from '../../../src/ports/terminals/terminal-record-repository.ts';
import { waitFor } from '../patience.ts';

export const NOBODY = '99999999-9999-4999-8999-999999999999';

export const randomName = (): string => `u-${randomUUID().slice(0, 8)}`;

export const aNewUser = (over: Partial<NewUser> = {}): NewUser => {
  const username = over.username ?? randomName();
  return {
    email: `${username}@example.org`,
    username,
    passwordHash: 'hash',
    role: 'user',
    tier: 'free',
    guestUntil: null,
    endsAt: null,
    ...over,
  };
};

/** A stored user. */
export async function storedUser({ repositories }: Storage, over: Partial<NewUser> = {}): Promise<User> {
  const made = await repositories.users.insert(aNewUser(over));
  if ('taken' in made) throw new Error(`${made.taken} is taken`);
  return made.user;
}

export const aNewContainer = (ownerId: string, over: Partial<NewContainer> = {}): NewContainer => {
  const dbId = randomUUID();
  return {
    dbId,
    ownerId,
    name: randomName(),
    imageKey: 'debian',
    image: 'berth/debian:12',
    shell: '/bin/bash',
    role: 'standard',
    resources: { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 },
    env: { EDITOR: 'vi', GREETING: 'héllo "🚢"\n' },
    node: 'local',
    volume: `ws-${dbId}`,
    ...over,
  };
};

/** A stored running container. */
export async function storedContainer(
  { repositories: { containers } }: Storage,
  ownerId: string,
  over: Partial<NewContainer> = {},
): Promise<Container> {
  const fresh = aNewContainer(ownerId, over);
  await containers.insert(fresh);
  const change = { state: 'running', runtimeId: randomBytes(32).toString('hex'), started: true } as const;
  const made = await containers.changeState(fresh.dbId, ['creating'], change);
  if (made === null) throw new Error('a container vanished');
  return made;
}

export const aNewSnapshot = (
  { ownerId, dbId }: Pick<Container, 'ownerId' | 'dbId'>,
  over: Partial<NewSnapshot> = {},
): NewSnapshot => {
  const id = randomUUID();
  return {
    id,
    ownerId,
    dbId,
    name: `s-${id.slice(0, 8)}`,
    note: 'héllo "🚢"',
    labels: { team: 'a' },
    containerName: 'dev',
    imageKey: 'debian',
    image: 'berth/debian:12',
    shell: '/bin/bash',
    role: 'node',
    roleSetupStatus: 'ready',
    volume: `snap-${id}`,
    layerMb: 10,
    volumeMb: 30,
    resources: { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 },
    forkIds: null,
    ...over,
  };
};

/** The user's own live containers, newest first. */
export async function ownContainers(
  { repositories: { sharedContainers } }: Storage,
  userId: string,
): Promise<readonly Container[]> {
  const visible = await sharedContainers.listVisible(userId);
  return visible.filter(({ access }) => access === null).map(({ container }) => container);
}

/** The record of a user's main terminal in a container. */
export const recordOf = (
  user: Pick<User, 'id'>,
  container: Container,
  over: Partial<NewTerminalRecord> = {},
): NewTerminalRecord => ({
  id: randomUUID(),
  key: `${container.runtimeId}:${user.id}:main`,
  userId: user.id,
  dbId: container.dbId,
  connectionId: 'main',
  muxSession: 'main',
  owner: true,
  cols: 80,
  rows: 24,
  client: 'browser',
  ipAddress: '192.0.2.1',
  replica: randomUUID(),
  ...over,
});

/** `blocked` where transactions are concurrent; elsewhere they run one at a time. */
export type OpenedStorage = Storage & { readonly blocked?: Blocked };

/** SHA-256. */
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Where sessions come from. */
export const from = { ipAddress: '192.0.2.1', userAgent: 'test' };

/** The number of true ones. */
export const trues = (answers: readonly unknown[]): number =>
  answers.filter((answer) => answer === true).length;

/** Concurrent calls, each in its own transaction. */
export const atOnce = <T>(
  storage: Storage,
  count: number,
  work: (tx: Repositories, n: number) => Promise<T>,
) => Promise.all(Array.from({ length: count }, (_, n) => storage.inTransaction((tx) => work(tx, n))));

export type OnStorage = (
  what: string,
  work: (t: Test, repositories: Repositories, storage: OpenedStorage) => Promise<void>,
) => void;

/** Tests of a contract, by the storage's name. */
export const onStorage =
  (name: string, storage: OpenedStorage): OnStorage =>
  (what, work) =>
    void t.test(`${name}: ${what}`, (t) => work(t, storage.repositories, storage));

/** Waits until this many transactions of this database wait for another's lock. */
export type Blocked = (count: number) => Promise<void>;

export const blockedIn =
  (db: Kysely<Database>): Blocked =>
  (count) => {
    const waits = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    const isReached = async () => ((await waits.execute(db)).rows[0]?.count ?? 0) >= count;
    return waitFor(isReached, { what: `${count} wait for a lock` });
  };

/** A transaction on its own connection, for locks that a test holds until it commits. */
type Holder = {
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<void>;
  readonly commit: () => Promise<void>;
  /** Waits until this many others of this database wait for a lock. */
  readonly blocks: (count: number) => Promise<void>;
};

export async function aHolder(t: Test, url: string): Promise<Holder> {
  const [client, watcher] = [new pg.Client(url), new pg.Client(url)];
  t.teardown(() => Promise.all([client.end(), watcher.end()]));
  await Promise.all([client.connect(), watcher.connect()]);
  await client.query('begin');
  const waiting = async (): Promise<number> => {
    const { rows } = await watcher.query(`select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows[0].waiting;
  };
  return {
    sql: async (text, values = []) => void (await client.query(text, [...values])),
    commit: async () => void (await client.query('commit')),
    blocks: (count) => waitFor(async () => (await waiting()) >= count, { what: `${count} wait for a lock` }),
  };
}
