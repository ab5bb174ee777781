import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { openContext } from '../../support/browser/page.ts';
import { makeShop } from '../../support/browser/shop.ts';
import {
  aQuickInstallation,
  client,
  signInAdmin,
  startService,
} from '../../support/process/running-service.ts';
import { codeAt, STEP_MS } from '../../support/service/factors.ts';

const PASSWORD = 'correct horse battery';
const RAES_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAUFGHzKRmN/bcbLBksK0NGPmFWArGSnb5JrqdWRm2i4 rae@laptop';

/**
 * `ada` has containers in many states, `bob` joins her terminal, `eve` has nothing, `mia` has a second factor, `lou` a
 * passcode, `rae` an SSH key, `old` signed in long ago, `kim` signs in for each of her pages, `root` is the administrator.
 */
export const PEOPLE = ['ada', 'bob', 'eve', 'mia', 'lou', 'rae', 'old', 'kim', 'root'] as const;
export type Who = (typeof PEOPLE)[number];

type Call = ReturnType<typeof client>;
export type Size = 'wide' | 'phone';

/** A service with people, containers and all else that screens show. */
export type World = {
  readonly address: string;
  /** The URL of the service's database. */
  readonly database: string;
  readonly password: string;
  readonly calls: Readonly<Record<Who, Call>>;
  /** Of ada's containers, by name. */
  readonly ids: Readonly<Record<string, string>>;
  /** Opens a signed-in page of that size. */
  readonly open: (who: Who | 'nobody', size: Size) => Promise<Page>;
  /** Closes all pages: each terminal that stays open slows the next scene. */
  readonly closePages: () => Promise<void>;
};

const SMALL = { memory_mb: 512, cpu_shares: 500, disk_mb: 1024 };

/** Sends it and throws unless it succeeds. */
export async function done(answer: ReturnType<Call>): Promise<Record<string, unknown>> {
  const { status, body } = await answer;
  if (status >= 400) throw new Error(`answered ${status} ${JSON.stringify(body)}`);
  return body;
}

export const OF_SIZE = {
  wide: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
} as const;

/** Starts the service and fills it; null where that is impossible. */
export async function aWorld(t: Test, browser: Browser): Promise<World | null> {
  const installation = await aQuickInstallation(t);
  if (installation === null) return null;
  const running = await startService(t, installation);
  const { address } = running;
  await signInAdmin(running);
  const root = requestsOf(address, 'root');
  await done(
    root('PATCH', '/api/admin/settings', {
      open_registration: true,
      guests_enabled: true,
      requests_per_minute: 0,
    }),
  );
  const calls: Record<string, Call> = { root };
  for (const name of PEOPLE.filter((one) => one !== 'root')) calls[name] = await aUser(address, name);
  const world = {
    address,
    database: String(installation.env['DATABASE_URL']),
    password: PASSWORD,
    calls,
  } as World;
  const ids = await containersOf(world);
  await secondFactor(world.calls.mia);
  await done(world.calls.lou('PUT', '/api/me/lock', { passcode: '2468' }));
  await done(world.calls.rae('POST', '/api/me/ssh-keys', { public_key: RAES_KEY }));
  return { ...world, ids, ...pages(t, browser, address) };
}

async function aUser(address: string, username: string): Promise<Call> {
  const person = { email: `${username}@example.org`, username, password: PASSWORD };
  await done(client(address)('POST', '/api/auth/register', person));
  return requestsOf(address, username);
}

/** A login token lives for 15 minutes, and a run may take longer. */
const RENEWED_MS = 5 * 60_000;

/** Requests of that user, with a recent sign-in each. */
function requestsOf(address: string, who: string): Call {
  let latest: { readonly call: Call; readonly atMs: number } | null = null;
  const recent = async (): Promise<Call> => {
    if (latest !== null && Date.now() - latest.atMs < RENEWED_MS) return latest.call;
    const body = await done(client(address)('POST', '/api/auth/login', { email: who, password: PASSWORD }));
    latest = { call: client(address, String(body['token'])), atMs: Date.now() };
    return latest.call;
  };
  return async (...request) => await (await recent())(...request);
}

/** Ada's containers: `web-api` runs with a project, a recording, a share and a token, `docs` is stopped, `data` lacks tools. */
async function containersOf({ calls: { ada, bob, root } }: World): Promise<World['ids']> {
  const role = { key: 'broken', label: 'Broken tools', script: 'echo no luck; exit 7' };
  await done(root('POST', '/api/admin/roles', role));
  const make = async (name: string, over = {}): Promise<readonly [string, string]> => {
    const made = await done(ada('POST', '/api/containers', { name, ...SMALL, ...over }));
    return [name, String(made['db_id'])];
  };
  const ids = Object.fromEntries([
    await make('web-api', { memory_mb: 1024, cpu_shares: 1000, disk_mb: 2048 }),
    await make('docs', { role: 'node' }),
    await make('data', { role: 'broken' }),
    await make('old-site'),
  ]);
  await done(ada('POST', `/api/containers/${ids['docs']}/stop`));
  await done(ada('DELETE', `/api/containers/${ids['old-site']}`));
  await done(
    ada('POST', `/api/containers/${ids['docs']}/snapshots`, { name: 'base', note: 'before the upgrade' }),
  );
  const share = { mode: 'control', expires_in_minutes: 60 };
  const { url } = await done(ada('POST', `/api/containers/${ids['web-api']}/collaborations`, share));
  await done(bob('POST', '/api/collaborations/join', { code: String(url).split('code=')[1] }));
  await done(root('POST', '/api/containers', { name: 'registry', ...SMALL }));
  await makeShop(ada, String(ids['web-api']));
  await namesFor(ada);
  return ids;
}

/** Tokens, a narrower one, and an SSH key. */
async function namesFor(call: Call): Promise<void> {
  const { id } = await done(
    call('POST', '/api/tokens', { name: 'deploy', scopes: ['read', 'write'], expires_in: 90 }),
  );
  await done(
    call('POST', '/api/tokens/derive', {
      parent_id: id,
      name: 'nightly build',
      scopes: ['read'],
      expires_in_minutes: 480,
    }),
  );
  const public_key =
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@laptop';
  await done(call('POST', '/api/me/ssh-keys', { public_key }));
}

async function secondFactor(call: Call): Promise<void> {
  const { secret } = await done(call('POST', '/api/me/mfa', {}));
  const code = codeAt(String(secret), new Date(Date.now() - STEP_MS));
  await done(call('POST', '/api/me/mfa/confirm', { code }));
}

/** They have a new context for each page: signed out, or signed in recently enough for what needs a confirmation. */
const ANEW: readonly (Who | 'nobody')[] = ['nobody', 'kim'];

/** One context for each user and size: a refresh token opens no second one. */
function pages(t: Test, browser: Browser, address: string): Pick<World, 'open' | 'closePages'> {
  const contexts = new Map<string, Promise<BrowserContext>>();
  const make = async (who: Who | 'nobody', size: Size): Promise<BrowserContext> => {
    const session = who === 'nobody' ? undefined : await aSession(address, who);
    const context = await openContext(browser, OF_SIZE[size], session);
    t.teardown(() => context.close());
    return context;
  };
  const open: World['open'] = async (who, size) => {
    const key = `${who} ${size}`;
    const made = contexts.get(key) ?? make(who, size);
    contexts.set(key, made);
    return await (await made).newPage();
  };
  const closePages = async (): Promise<void> => {
    for (const [key, made] of contexts) {
      const context = await made;
      await context.setOffline(false);
      if (!ANEW.some((who) => key.startsWith(who))) for (const page of context.pages()) await page.close();
      else {
        contexts.delete(key);
        await context.close();
      }
    }
  };
  return { open, closePages };
}

async function aSession(address: string, who: Who) {
  const response = await fetch(`${address}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: who, password: PASSWORD }),
  });
  const { mfa_token } = (await response.json()) as { mfa_token?: string };
  if (mfa_token !== undefined) throw new Error(`${who} signs in with a second factor, in a scene of its own`);
  const refreshToken = /berth_refresh=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
  return { address, refreshToken };
}
