import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { freshDatabase } from '../database/database.ts';
import { engineAt } from '../engine/engine.ts';
import { installationOf, removeInstance } from '../engine/instance.ts';
import { needs, type Parts, provide } from '../run/infra.ts';
import { type Installation, launchService, type Running } from './service-process.ts';

export type { Installation, Running };

/** A data folder. At the end of `t`, `clear` removes what the installation has left elsewhere, then the folder is removed. */
export function aDataFolder(t: Test, clear: () => Promise<unknown>): string {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-e2e-'));
  t.teardown(async () => {
    await clear();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return dataDir;
}

/** The settings of a Berth on this machine whose containers are elsewhere, on a database of the run's server. */
export async function anInstallationElsewhere(
  t: Test,
  settings: NodeJS.ProcessEnv,
  remove: (instance: string) => Promise<unknown>,
) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const instance = await installationOf('', url);
  const dataDir = aDataFolder(t, () => remove(instance));
  const env = { BERTH_DATA_DIR: dataDir, BERTH_PORT: '0', DATABASE_URL: url, ...settings };
  return { installation: { dataDir, env }, url, instance };
}

/** A data folder and settings for a real service on the run's engine and its own embedded database. */
export async function anInstallation(t: Test, over: NodeJS.ProcessEnv = {}): Promise<Installation | null> {
  const engine = await needs(t, 'engine');
  if (engine === null) return null;
  const instances = new Set<string>();
  const dataDir = aDataFolder(t, () => clear(engine, instances));
  const env = {
    DOCKER_HOST: engine.endpoint,
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_ENGINE: 'external',
    // Hard quotas are probed at each start, and tested elsewhere.
    BERTH_DISK_QUOTA: 'soft',
  };
  const installation = { dataDir, env: { ...env, ...over } };
  if (installation.env.DOCKER_HOST === engine.endpoint) installed.set(dataDir, instances);
  return installation;
}

/** Installations on the run's engine, by data folder. */
const installed = new Map<string, Set<string>>();

/** An installation's remains in the engine slow each later start: its addresses are dialled, its rules are read. */
async function clear({ kind, endpoint }: Parts['engine'], instances: ReadonlySet<string>): Promise<void> {
  const engine = { kind, ...(await engineAt(endpoint)) };
  for (const instance of instances) await removeInstance(engine, instance);
}

/** The same on a ready database of the run's server. */
export async function aQuickInstallation(
  t: Test,
  over: NodeJS.ProcessEnv = {},
): Promise<Installation | null> {
  const url = await freshDatabase(t);
  return url === null ? null : await anInstallation(t, { DATABASE_URL: url, ...over });
}

/** Starts the built service and waits for its ready line; it ends with `t`. */
export async function startService(t: Test, installation: Installation, server?: string): Promise<Running> {
  const running = await launchService(installation, {
    began: (stop) => t.teardown(() => stop()),
    ...(server === undefined ? {} : { server }),
  });
  t.teardown(() => {
    if (t.passing()) return;
    const { exitCode } = running.child;
    const end = exitCode === null ? '' : ` (exit code ${exitCode})`;
    console.error(`the service of "${t.name}"${end}:\n${running.output().slice(-4000)}`);
  });
  const { dataDir, env } = installation;
  installed.get(dataDir)?.add(await installationOf(dataDir, env['DATABASE_URL']));
  return running;
}

type Answer = { readonly status: number; readonly body: Record<string, unknown> };

/** Longer than any request takes, even on a busy machine. */
const ANSWER_MS = 180_000;

/** Requests with a bearer token against a running service. */
export const client =
  (address: string, token: string | null = null) =>
  async (method: string, url: string, payload?: object): Promise<Answer> => {
    const response = await fetch(address + url, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };

export const ADMIN = { email: 'root@example.org', username: 'root', password: 'correct horse battery' };

/** Signs the administrator in, creating it if needed. */
export async function signInAdmin({
  address,
  setupCode = null,
}: Pick<Running, 'address'> & Partial<Pick<Running, 'setupCode'>>): Promise<string> {
  const call = client(address);
  const { email, password } = ADMIN;
  const { status, body } =
    setupCode === null
      ? await call('POST', '/api/auth/login', { email, password })
      : await call('POST', '/api/auth/setup', { code: setupCode, ...ADMIN });
  if (status >= 300) throw new Error(`signing in answered ${status} ${JSON.stringify(body)}`);
  return body['token'] as string;
}

/** Runs the work with an installation's service, its administrator signed in. */
export async function whileRunning<T>(
  t: Test,
  installation: Installation,
  work: (call: ReturnType<typeof client>) => Promise<T>,
): Promise<T> {
  const running = await startService(t, installation);
  const result = await work(client(running.address, await signInAdmin(running)));
  await running.stop();
  return result;
}

export type SharedService = Parts['service'] & {
  /** All output so far. */
  readonly output: () => string;
  /** Requests of its administrator. */
  readonly admin: ReturnType<typeof client>;
};

/**
 * The run's service, shared by concurrent tests: a test registers its own users and leaves the settings alone. If it
 * ends during a test file, that file fails. Null when the test was skipped without an engine.
 */
export async function sharedService(t: Test): Promise<SharedService | null> {
  for (const need of ['postgres', 'engine'] as const) if ((await needs(t, need)) === null) return null;
  const answer = await provide('service');
  if (!answer.ok) throw new Error(answer.reason);
  const { address, adminToken, log, pid } = answer.value;
  const output = (): string => readFileSync(log, 'utf8');
  t.teardown(() => {
    if (isAlive(pid)) return;
    console.error(`the service of the run ended during "${t.name}":\n${output().slice(-2_000)}`);
    // The test itself is over: the file fails.
    process.exitCode = 1;
  });
  return { ...answer.value, output, admin: client(address, adminToken) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export type Member = {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  /** The refresh token of the same session. */
  readonly refreshToken: string;
};

/** By a sign-in: an API token makes no administrator. */
async function makeAdmin(address: string, id: string): Promise<void> {
  const { email, password } = ADMIN;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  const call = client(address, String(body['token']));
  const done = await call('PATCH', `/api/admin/users/${id}`, { role: 'admin' });
  if (done.status !== 200) throw new Error(`no administrator: ${JSON.stringify(done)}`);
}

let made = 0;

/** A new signed-in user with a name unique in the run. */
export async function register(
  { address }: Pick<SharedService, 'address'>,
  { name = 'ada', role = 'user' }: { readonly name?: string; readonly role?: 'user' | 'admin' } = {},
): Promise<Member> {
  made += 1;
  const username = `${name}-${process.pid}-${made}`;
  const person = { email: `${username}@example.org`, username, password: 'correct horse battery' };
  const answer = await fetch(`${address}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  });
  const body = (await answer.json()) as { token: string; user: { id: string } };
  if (answer.status !== 201) throw new Error(`registering answered ${JSON.stringify(body)}`);
  const refreshToken = /berth_refresh=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const { id } = body.user;
  if (role === 'admin') await makeAdmin(address, id);
  return { ...person, id, token: body.token, refreshToken };
}
