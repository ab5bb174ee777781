import type { Container } from '../../../src/domain/containers/container.ts';
import type { Tier } from '../../../src/domain/containers/resources.ts';
import { NO_ROLE_SETUP } from '../../../src/domain/containers/role-setup.ts';
import type { Caller } from '../../../src/domain/identity/caller.ts';
import type { UserSession } from '../../../src/domain/identity/session.ts';
import type { ApiToken } from '../../../src/domain/identity/token.ts';
import { DEFAULT_USE_LIMITS } from '../../../src/domain/identity/use-limits.ts';
import type { User } from '../../../src/domain/identity/user.ts';

const created = new Date('2026-01-01T00:00:00Z');

export const aUser = (over: Partial<User> = {}): User => ({
  id: '11111111-1111-4111-8111-111111111111',
  email: 'ada@example.org',
  username: 'ada',
  role: 'user',
  tier: 'free',
  createdAt: created,
  disabledAt: null,
  guestUntil: null,
  ...over,
});

export const aSession = (over: Partial<UserSession> = {}): UserSession => ({
  id: '22222222-2222-4222-8222-222222222222',
  userId: aUser().id,
  createdAt: created,
  lastSeenAt: created,
  expiresAt: new Date('2026-01-31T00:00:00Z'),
  ipAddress: '127.0.0.1',
  userAgent: 'test',
  revokedAt: null,
  revokedReason: null,
  ...over,
});

export const aToken = (over: Partial<ApiToken> = {}): ApiToken => ({
  id: '44444444-4444-4444-8444-444444444444',
  userId: aUser().id,
  name: 'ci',
  prefix: 'svc_01234567',
  scopes: ['read', 'write'],
  createdAt: created,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  ...over,
});

export const aCaller = (over: Partial<Caller> = {}): Caller => ({
  user: aUser(),
  credential: { kind: 'login', sessionId: aSession().id, locked: false },
  ...over,
});

export const aTier = (over: Partial<Tier> = {}): Tier => ({
  name: 'free',
  memoryMb: { min: 256, max: 2048 },
  cpuMillicores: { min: 100, max: 2000 },
  diskMb: { min: 512, max: 10_240 },
  layerMb: 2048,
  maxContainers: 5,
  maxAgents: 2,
  ...DEFAULT_USE_LIMITS,
  ...over,
});

export const aContainer = (over: Partial<Container> = {}): Container => ({
  dbId: '33333333-3333-4333-8333-333333333333',
  ownerId: aUser().id,
  ownerUsername: 'ada',
  name: 'dev',
  imageKey: 'debian',
  image: 'berth/debian:12',
  shell: '/bin/bash',
  role: 'standard',
  resources: { memoryMb: 512, cpuMillicores: 500, diskMb: 2560 },
  env: {},
  state: 'running',
  stateReason: null,
  diskQuota: 'soft',
  layerUsedMb: null,
  layerAllowedMb: 2048,
  diskUsedMb: null,
  generation: 1,
  runtimeId: 'a'.repeat(64),
  node: 'local',
  volume: 'ws-33333333-3333-4333-8333-333333333333',
  createdAt: created,
  lastUsedAt: null,
  startedAt: created,
  deletedAt: null,
  roleSetup: NO_ROLE_SETUP,
  ...over,
});
