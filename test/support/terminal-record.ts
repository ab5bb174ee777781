import { randomUUID } from 'node:crypto';
import type { Container } from '../../src/domain/container.ts';
import type { User } from '../../src/domain/user.ts';
import type { NewTerminalRecord } from '../../src/ports/terminal-records.ts';

/** The main terminal of somebody in a container, as it is written down. */
export const recordOf = (
  user: Pick<User, 'id'>,
  container: Container,
  over: Partial<NewTerminalRecord> = {},
): NewTerminalRecord => ({
  id: randomUUID(),
  key: `${container.runtimeId}:${user.id}:main`,
  userId: user.id,
  containerId: container.dbId,
  connectionId: 'main',
  muxSession: 'main',
  owner: true,
  cols: 80,
  rows: 24,
  replica: randomUUID(),
  ...over,
});
