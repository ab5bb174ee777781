import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { freshDatabase } from '../database/database.ts';
import type { TestEngine } from '../engine/engine.ts';
import * as patient from '../patience.ts';
import { waitFor } from '../patience.ts';
import { Invariants } from './invariants.ts';
import {
  anInstallation,
  client,
  type Installation,
  type Running,
  signInAdmin,
  startService,
} from './running-service.ts';

export const FAULTY = path.resolve('test/support/process/faulty-server.ts');
export const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
export const large = { ...small, memory_mb: 512 };

export type Call = ReturnType<typeof client>;

/** A running container with a file on its volume. */
type ContainerIds = { readonly dbId: string; readonly id: string };

export async function aContainerWithCanary(call: Call, name = 'kept'): Promise<ContainerIds> {
  const { status, body } = await call('POST', '/api/containers', { name, ...small });
  // A cluster's node may be prepared longer than a request lasts.
  if (status !== 201 && status !== 202) throw new Error(`create answered ${status} ${JSON.stringify(body)}`);
  const { db_id: dbId } = body as { db_id: string };
  const read = async () => (await call('GET', `/api/containers/${dbId}`)).body;
  const made = status === 201 ? body : await eventually(read, (now) => now['status'] === 'running');
  await inside(call, dbId, 'echo kept > /workspace/canary');
  return { dbId, id: made['id'] as string };
}

/** The output of a shell command in the container, or the refusal. */
export async function inside(call: Call, dbId: string, script: string): Promise<unknown> {
  const command = ['sh', '-c', script];
  const { body } = await call('POST', `/api/containers/${dbId}/exec`, { command });
  return body['stdout'] ?? body;
}

export const readCanary = (call: Call, dbId: string): Promise<unknown> =>
  inside(call, dbId, 'cat /workspace/canary');

/** Asks until the answer is as expected; returns the last answer. */
export async function eventually<T>(
  read: () => Promise<T>,
  wanted: (answer: T) => boolean,
  seconds = 60,
): Promise<T> {
  return await patient.eventually(read, wanted, { patienceMs: seconds * 1000, everyMs: 100 });
}

/** A part's state in `/readyz`, or null without an answer. */
export const partState =
  (call: Call, part: 'engine' | 'database' | 'image') => async (): Promise<string | null> => {
    const { body } = await call('GET', '/readyz').catch(() => ({ body: {} }));
    return (body as { parts?: Record<string, { status: string }> }).parts?.[part]?.status ?? null;
  };

export const isReady = (state: string | null): boolean => state === 'ready';

/** A data folder and settings for a service on a new migrated database; null when the test was skipped. */
async function anInstallationWithDatabase(
  t: Test,
  settings: NodeJS.ProcessEnv = {},
): Promise<{ readonly installation: Installation; readonly url: string } | null> {
  const url = await freshDatabase(t);
  const installation = url === null ? null : await anInstallation(t, { DATABASE_URL: url, ...settings });
  return url === null || installation === null ? null : { installation, url };
}

/**
 * The file in which an installation's faulty server reads the points at which to kill the victim next: the process whose
 * number is in the file, else the server itself. Each operation waits at its point until all have reached theirs.
 */
export function faultsOf(installation: Installation, victimFile?: string) {
  const file = path.join(installation.dataDir, 'fault');
  const env = { FAULT_FILE: file, FAULT_VICTIM: victimFile };
  return {
    installation: { ...installation, env: { ...installation.env, ...env } },
    next: (...points: readonly string[]): void => writeFileSync(file, points.join('\n')),
  };
}

/** Services on one data folder and one database: the one that recovers from a kill is killed next. */
export type KillChain = {
  readonly url: string;
  readonly invariants: Invariants;
  /** Requests to the running service, started if needed. */
  call(): Promise<Call>;
  /**
   * Runs the work, during which the service dies when each of these operations is at its point. Resolves when the next
   * service has recovered.
   */
  dieAt(t: Test, points: readonly string[], work: (call: Call) => Promise<unknown>): Promise<Call>;
  /** Starts a service that dies at the point, perhaps before it is ready. */
  dieStarting(t: Test, point: string): Promise<void>;
  /** Stops the service; the next one has these settings too. */
  stop(settings?: NodeJS.ProcessEnv): Promise<void>;
};

/** Within the 15 minutes of a login token; all rounds of a test take longer. */
const LOGIN_MS = 600_000;

/** All of it ends with `t`; null when the test was skipped. */
export async function aKillChain(
  t: Test,
  engine: TestEngine,
  settings: NodeJS.ProcessEnv = {},
): Promise<KillChain | null> {
  const set = await anInstallationWithDatabase(t, settings);
  return set === null ? null : killChainOf(t, set, engine.docker);
}

/** The same for an installation on any engine. `patienceMs`: until all operations are at their points, then over. */
export function killChainOf(
  t: Test,
  set: { readonly installation: Installation; readonly url: string },
  engine: ConstructorParameters<typeof Invariants>[1],
  patienceMs = 60_000,
): KillChain {
  const { installation, next } = faultsOf(set.installation);
  const invariants = new Invariants(set.url, engine);
  t.teardown(() => invariants.close());
  let login: { readonly token: string; readonly atMs: number } | null = null;
  let running: Running | null = null;

  async function call(): Promise<Call> {
    running ??= await startService(t, installation, FAULTY);
    if (login === null || performance.now() - login.atMs > LOGIN_MS)
      login = { token: await signInAdmin(running), atMs: performance.now() };
    return client(running.address, login.token);
  }

  return {
    url: set.url,
    invariants,
    call,
    async dieAt(t, points, work) {
      const asked = await call();
      const dying = running as Running;
      next(...points);
      await work(asked).catch(() => undefined);
      await diesOf(t, dying, points.join(', '), patienceMs);
      running = null;
      const again = await call();
      await invariants.settled(patienceMs);
      return again;
    },
    async dieStarting(t, point) {
      next(point);
      const dying = await startService(t, installation, FAULTY).catch(() => null);
      if (dying !== null) await diesOf(t, dying, point);
    },
    async stop(settings = {}) {
      await running?.stop();
      running = null;
      Object.assign(installation.env, settings);
    },
  };
}

async function diesOf(t: Test, { child }: Running, point: string, patienceMs = 60_000): Promise<void> {
  const hasEnded = () => child.signalCode !== null || child.exitCode !== null;
  await waitFor(hasEnded, { what: `the service dies ${point}`, patienceMs });
  t.equal(child.signalCode, 'SIGKILL', `${point}: it died there`);
}

export type Replica = {
  /** Of its latest start. */
  readonly address: () => string;
  /** All output since its latest start. */
  readonly output: () => string;
  readonly dataDir: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  restart(): Promise<void>;
};

const MAX_STARTS = 5;

/** Two real processes on one database and one engine. */
export type Pair = NonNullable<Awaited<ReturnType<typeof aPairOfReplicas>>>;

/**
 * Two real processes on one database and one engine, with their administrator's login and API token; null when skipped.
 */
export async function aPairOfReplicas(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const shared = { DATABASE_URL: url, BERTH_JWT_SECRET: randomBytes(48).toString('base64') };
  const [one, two] = [await anInstallation(t, shared), await anInstallation(t, shared)];
  if (one === null || two === null) return null;
  const first = await startService(t, one);
  const login = await signInAdmin(first);
  const call = client(first.address, login);
  await call('PATCH', '/api/admin/settings', { requests_per_minute: 0, open_registration: true });
  const { body } = await call('POST', '/api/tokens', { name: 'test' });
  const replicas = [asReplica(t, one, first), asReplica(t, two, await startService(t, two))] as const;
  return { url, login, token: body['token'] as string, replicas };
}

function asReplica(t: Test, installation: Installation, started: Running): Replica {
  let running = started;
  return {
    address: () => running.address,
    output: () => running.output(),
    dataDir: installation.dataDir,
    async kill() {
      await running.stop('SIGKILL');
    },
    async restart() {
      // Like a supervisor: on a busy machine a start may be given up.
      for (let tries = 1; ; tries += 1) {
        const started = await startService(t, installation).catch((error: unknown) => error as Error);
        if (!(started instanceof Error)) {
          running = started;
          return;
        }
        if (tries === MAX_STARTS) throw started;
      }
    },
  };
}
