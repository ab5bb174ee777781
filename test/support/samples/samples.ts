import fc from 'fast-check';
import type { Container } from '../../../src/domain/containers/container.ts';
import { NO_LIFETIME, NO_LIFETIME_LIMITS } from '../../../src/domain/containers/lifetime/lifetime.ts';
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
  endsAt: null,
  ...over,
});

export const aSession = (over: Partial<UserSession> = {}): UserSession => ({
  id: '22222222-2222-4222-8222-222222222222',
  userId: aUser().id,
  createdAt: created,
  lastSeenAt: created,
  signedInAt: created,
  confirmedAt: null,
  barredUntil: null,
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
  revokedReason: null,
  parentId: null,
  depth: 0,
  containers: null,
  maxUses: null,
  usesLeft: null,
  ...over,
});

export const aCaller = (over: Partial<Caller> = {}): Caller => ({
  user: aUser(),
  credential: { kind: 'login', sessionId: aSession().id, locked: false, barred: false },
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
  maxSnapshots: 5,
  snapshotMb: 10_240,
  ...NO_LIFETIME_LIMITS,
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
  labels: {},
  lifetime: NO_LIFETIME,
  ...over,
});

/** Public keys that OpenSSH made, with the fingerprints that it prints: type, fingerprint, base64. */
export const SSH_KEYS: readonly (readonly [type: string, fingerprint: string, base64: string])[] = [
  [
    'ssh-ed25519',
    'SHA256:F53fV8S/uvxOgdY8nP5zwn87S87cWnMyIvHHlB6B62c',
    ['AAAAC3NzaC1lZDI1NTE5AAAAIHUhhPxysRGD9iWcfb1Qf9aCvtT/exKe32ymwaHPcfbF'].join(''),
  ],
  [
    'ecdsa-sha2-nistp256',
    'SHA256:yMRfpNIepd/JxQC7e9vBFXaAru2S71wFVH5gfvEJ2NY',
    [
      'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJPUIX3gXLt6/wcT4lngUp6DNqxcWI5L',
      'dHO1Nd3A0l57y+vJ6d/QmtLW/35y+CUqhfVffHAh7sqFCT49sCP2O58=',
    ].join(''),
  ],
  [
    'ecdsa-sha2-nistp384',
    'SHA256:4l4BOQbi569VCpp0fxNMUqSJygAR1nGvp88XRn3Ifyw',
    [
      'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBCAZzC4tVxAG0vuYsJItBT6+xa2EFHu3',
      'lYasRplYC1N3rfBfr81uMzZJqhK2vI5QmyPTXYZJ56BqUQuEpJayQfGmsNdSHQg5EzhPyRrU4CwK6gEayXlv',
      'xC/bGyl9IppNFA==',
    ].join(''),
  ],
  [
    'ecdsa-sha2-nistp521',
    'SHA256:5DGlDBpdgUV0m7wQ2rYvBcFsltYgejgQWixcMhAcHyc',
    [
      'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAE5dXEqPAN14BxF+j434TyCfWiETE2E',
      'imrYxKvrx2SWiFe/XOcBvll5JAoHy/WDn30SsROy3DX/yt5PSyqcfQyCwACrhMSCCCHpP97c9fuFW4nBdTgM',
      'Z/EgQTkC7D5Q7nciYrl4rYrD380ikXJWXLC1IyqpxKGzLHLX3RrjC6/MUjBzuA==',
    ].join(''),
  ],
  [
    'ssh-rsa',
    'SHA256:T+Q0Qekz6YbbGFeLiCOeqVpeiyXONYHTF79Qx6pNXJA',
    [
      'AAAAB3NzaC1yc2EAAAADAQABAAABAQDZfkXg8YugWunm0RlxMZkbGNijP4XDh+TgtkYsEq5TWYmH1YiAR4+7',
      'NKrLMAFxCiR+tUb61QGGYQnikxcWJczxLT6IuCcpAl7EWPhoEFtgU8ME+DBdAOLo6T7SaQGLLRWYBlvQxERF',
      'zzGJ5JtwDCdpScUtHwwl4yOxPs5IXTqjwxy9pir0Ch6gNZoReGYs83dZSq6Xqk2ux38QEHlwngJ1fv34AvJQ',
      '/UMDACDFdlIVWs7EDOzL3Zgy9r1HzRG/YyE/XQCtu6tlFzlq9Kb8ItsuV5qWVZEPGriwjHqGS2ZLCnG/IiAc',
      'byz0eG49fane9MHVo/ud4JxiSvm7OL5xqYlf',
    ].join(''),
  ],
];

export const DSA_KEY =
  'ssh-dss AAAAB3NzaC1kc3MAAACBAJ7/GyrkaDWsREGWzq2PHk7oQNeM5XmTl9yuYurz7g4e4wy0KsWMRU10Lw25g80cw4JQuHmo5sx3e8dJDkEtut12CbrhEkCM843uRvyPl95IPG0YDivdTQ4rcP7zVTyF+rtumedWwlJ003CxBpmgzQ5pM05IbNNHckvxbH4A2yq7AAAAFQDglui8J3trWGrFchLByhdYP/0MYwAAAIAM6kzQzCSV3UhjcDE5pxefLP/pa5IRCY9uOUUFY8PmcmGg+2xBuEzOoLhwZkTW9ApuNgiRCVcB15wPOvnfcfhNIbd3Fi05u9zTjVxXBrs1Rsemh9atJ7H9OD2R6jNPXcwCkywXDMesSuDaaXcos4iLqeu/mhHBwuiuSoJL3aNB6AAAAIEAj0A0Lq4FN6fkysDHNm5dfYcq7ztV4x1B49Xr5zvl8UYuwLq8haiaDsRz5J4WfR/8GGlL6AdvL4iWgnQpNt2bZ63Z5K3fp9JndcY1ROiwZfBHWyB3ND6W8kD0iNvgMaLSX2YA+N4fIo5JDDk2OoZJoJJ7mf//+/01Mnr2q8wkEiU=';
export const SHORT_RSA_KEY =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC1lblWhwPc4E1UF2xDGOa3jbYpJydAsno4y1o/Z+MgKIiKp0xIO+jeCDp/CxGtpzaHj/CnHxchm3Q0+5xcoGvNVlQHlGVtcmR0W+RGZdZ9DQnBn7yQF2ELAH1K7VWUuU0CTrpz0Kj8GD0kY94Fh2ygLj1l40sc+W2EiRLXFKDt3w==';

/** A key in the wire format: every field with its length before it. */
export function wire(...fields: readonly (string | Buffer)[]): string {
  const parts = fields.flatMap((field) => {
    const bytes = Buffer.from(field as string);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return Buffer.concat(parts).toString('base64');
}

const SURROGATES = { from: 0xd800, count: 0x800 };
const MOST = 0x10ffff - SURROGATES.count;

/** Any code point. The unit 'binary' of fast-check is the same; it first makes a table of them all, for a second. */
export const anyCharacter = fc
  .nat({ max: MOST })
  .map((n) => String.fromCodePoint(n < SURROGATES.from ? n : n + SURROGATES.count));

/** Nothing of what is logged is shown. */
export const silentLog = { info: () => {}, warn: () => {}, error: () => {} };
