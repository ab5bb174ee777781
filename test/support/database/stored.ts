import { randomBytes, randomUUID } from 'node:crypto';
import type { Container } from '../../../src/domain/containers/container.ts';
import type { User } from '../../../src/domain/identity/user.ts';
import type { NewContainer } from '../../../src/ports/containers/container-repository.ts';
import type { NewUser } from '../../../src/ports/identity/user-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import type { NewTerminalRecord } from '../../../src/ports/terminals/terminal-record-repository.ts';

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
    ...over,
  };
};

/** A user that is in the storage. */
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

/** A container that runs, as far as the storage knows. */
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

/** The main terminal of somebody in a container, as it is written down. */
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
  replica: randomUUID(),
  ...over,
});
