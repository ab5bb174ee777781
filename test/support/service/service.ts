import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { ReadyBody } from '../../../src/adapters/http/schema/service/service.ts';
import { httpServer } from '../../../src/adapters/http/server.ts';
import {
  fixedClock,
  type MemoryState,
  memoryAccess,
  memoryPorts,
  memoryRuntime,
  type memoryStorage,
  memoryTerminals,
} from '../../../src/adapters/memory/index.ts';
import { compose } from '../../../src/app/main/compose.ts';
import type {
  ComposeOptions,
  ConnectionOptions,
  ContainerOptions,
  HealthOptions,
  Ports,
  WebOptions,
} from '../../../src/app/main/compose-options.ts';
import { keysFrom } from '../../../src/app/main/keys/keys.ts';
import type { Service } from '../../../src/app/main/service.ts';
import { sharedServer } from './shared-http.ts';

const ready: ReadyBody = {
  status: 'ready',
  parts: {
    database: { status: 'ready', detail: 'answers' },
    engine: { status: 'ready', detail: 'answers' },
    image: { status: 'ready', detail: 'present' },
    disk: { status: 'ready', detail: 'soft' },
    isolation: { status: 'ready', detail: 'proved' },
    resources: { status: 'ready', detail: 'shown' },
  },
};

/** What a test sets of the service, whichever group it is in. */
export type ServiceOptions = Partial<
  ComposeOptions & WebOptions & HealthOptions & ContainerOptions & ConnectionOptions
>;

/** What HTTP reads when it is built. */
const READ_BY_HTTP: readonly (keyof ServiceOptions)[] = [
  ...(['logger', 'keys', 'version', 'trustProxy', 'openFiles'] as const),
  ...(['secureCookie', 'localMetrics', 'allowedOrigins', 'webRoot'] as const),
];

export const ORIGIN = 'http://127.0.0.1:8080';

/** The whole service on the given ports, in memory unless told otherwise. */
export async function aService(
  ports: Partial<Ports> = {},
  options: ServiceOptions = {},
): Promise<Service & { ports: Ports; clock: ReturnType<typeof fixedClock> }> {
  const clock = fixedClock();
  const runtime = ports.runtime ?? memoryRuntime();
  const all: Ports = {
    ...memoryPorts(clock),
    runtime,
    terminalBackend: memoryTerminals(runtime),
    ...memoryAccess(runtime),
    ...ports,
  };
  const set = {
    logger: pino({ level: 'silent' }),
    keys: keysFrom(Buffer.alloc(48, 7)),
    version: '0.0.0',
    replica: randomUUID(),
    allowedOrigins: new Set([ORIGIN]),
    trustProxy: [],
    openFiles: null,
    localMetrics: true,
    secureCookie: false,
    publicUrl: ORIGIN,
    liveness: () => ({ status: 'live' as const }),
    readiness: async () => ready,
    createWaitMs: 20_000,
    diskFloorMb: null,
    warmPoolSize: 0,
    verifyMs: 0,
    webRoot: null,
    ...options,
  };
  const isUsual = READ_BY_HTTP.every((name) => options[name] === undefined);
  const service = await compose(
    all,
    { ...set, web: set, health: set, containers: set, connections: set },
    isUsual ? sharedServer : httpServer,
  );
  return { ...service, ports: all, clock };
}

export type Person = { readonly token: string; readonly id: string; readonly cookie: string };

const PASSWORD = 'correct horse battery';

/** Signs in the first administrator, made by the set-up code. */
export async function anAdmin(service: Service): Promise<Person> {
  const code = await service.registration.newSetupCode();
  return await signUp(service, '/api/auth/setup', { code, ...person('root') });
}

/** Registers and signs in a user of tier `free`. */
export async function aPerson(service: Service & { ports: Ports }, username: string): Promise<Person> {
  await service.ports.storage.repositories.settings.change({ openRegistration: true });
  return await signUp(service, '/api/auth/register', person(username));
}

/** Lets guests in, as an administrator would; returns one who just entered. */
export async function aGuest(
  service: Service & { ports: Ports },
  { ip = '127.0.0.1', ...payload }: { readonly ip?: string; readonly username?: string } = {},
): Promise<Person & { readonly username: string }> {
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const request = { method: 'POST', url: '/api/auth/guest', payload, remoteAddress: ip } as const;
  const answer = await service.http.inject(request);
  if (answer.statusCode !== 200) throw new Error(`a guest was answered ${answer.statusCode} ${answer.body}`);
  const { token, user } = answer.json();
  return { token, id: user.id, username: user.username, cookie: answer.cookies[0]?.value ?? '' };
}

export const person = (username: string) => ({
  email: `${username}@example.org`,
  username,
  password: PASSWORD,
});

async function signUp(service: Service, url: string, payload: object): Promise<Person> {
  const answer = await service.http.inject({ method: 'POST', url, payload });
  if (answer.statusCode !== 201) throw new Error(`${url} answered ${answer.statusCode} ${answer.body}`);
  const cookie = answer.cookies.find(({ name }) => name === 'berth_refresh')?.value ?? '';
  return { token: answer.json().token, id: answer.json().user.id, cookie };
}

/** Whatever is sent as a bearer. */
export type Bearer = { readonly token: string };

/** A new API token of that person's; `id` is the token's. */
export async function anApiToken(
  service: Service,
  owner: Bearer,
  request: object = {},
): Promise<Bearer & { readonly id: string }> {
  const answer = await as(service, owner)('POST', '/api/tokens', { name: 'ci', ...request });
  if (answer.statusCode !== 201) throw new Error(`a token was answered ${answer.statusCode} ${answer.body}`);
  return answer.json();
}

/** The limits of a small container. */
export const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One request as somebody; null for nobody. */
export const as =
  (service: Service, who: Bearer | null) =>
  (method: Method, url: string, payload?: object, headers: Record<string, string> = {}) =>
    service.http.inject({
      method,
      url,
      headers: { ...(who ? { authorization: `Bearer ${who.token}` } : {}), ...headers },
      ...(payload === undefined ? {} : { payload }),
    });

export type TestService = Awaited<ReturnType<typeof aService>>;
type Listed = Record<string, unknown> & { id: string; is_current: boolean };

/** One more sign-in of somebody. */
export async function again(service: Service, who: Person, username: string): Promise<Person> {
  const { email, password } = person(username);
  const answer = await as(service, null)('POST', '/api/auth/login', { email, password });
  const cookie = answer.cookies.find(({ name }) => name === 'berth_refresh')?.value ?? '';
  return { ...who, token: answer.json().token, cookie };
}

export const sessionsOf = async (service: Service, who: Person): Promise<Listed[]> =>
  (await as(service, who)('GET', '/api/sessions')).json().sessions;

/** The id of the session that somebody holds. */
export const sessionIdOf = async (service: Service, who: Person): Promise<string> =>
  (await sessionsOf(service, who)).find(({ is_current }) => is_current)?.id ?? '';

/** 200 while the credential opens anything. */
export const statusOf = async (service: Service, who: Person): Promise<number> =>
  (await as(service, who)('GET', '/api/me')).statusCode;

export const refresh = (service: Service, { cookie }: Pick<Person, 'cookie'>, agent?: string) =>
  service.http.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    cookies: { berth_refresh: cookie },
    ...(agent === undefined ? {} : { headers: { 'user-agent': agent } }),
  });

/** Status and code of an answer. */
export const outcome = (answer: { readonly statusCode: number; json(): { code?: string } }) => [
  answer.statusCode,
  answer.json().code,
];

type OnMemory = { readonly ports: Pick<Ports, 'storage'> };

/** All rows of a service on memory. */
export const stateOf = ({ ports }: OnMemory): MemoryState =>
  (ports.storage as ReturnType<typeof memoryStorage>).state;

export const auditOf = (service: OnMemory, action: string) =>
  stateOf(service).audit.filter((one) => one.action === action);
