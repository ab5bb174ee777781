import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { outsideOfTap } from './child.ts';
import { engineAt } from './engine.ts';
import type { Parts } from './infra.ts';
import { installationOf, removeInstance } from './instance.ts';
import { needs } from './skip.ts';

const SERVER = path.resolve('dist/app/main/bin/server.js');
const READY = /Berth is ready.*?(http:\/\/[^\s/]+)(?:\/setup#code=(\S+))?/;

export type Running = {
  readonly address: string;
  /** The one-time set-up code; null when there is an administrator. */
  readonly setupCode: string | null;
  readonly child: ChildProcess;
  /** All that it printed so far. */
  readonly output: () => string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  /** Sends the signal and waits for the end; answers the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export type Place = {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** How many files the service may have open; as many as the test itself when it is left out. */
  readonly openFiles?: number;
};

/** A data folder and settings for a real service on this run's engine and an embedded database of its own. */
export async function aPlace(t: Test, over: NodeJS.ProcessEnv = {}): Promise<Place | null> {
  const engine = await needs(t, 'engine');
  if (engine === null) return null;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-e2e-'));
  const instances = new Set<string>();
  t.teardown(async () => {
    await clear(engine, instances);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const env = {
    DOCKER_HOST: engine.endpoint,
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_ENGINE: 'external',
    // What keeps sizes by a file system is tried at each start, and is a test of its own.
    BERTH_DISK_QUOTA: 'soft',
  };
  const place = { dataDir, env: { ...env, ...over } };
  if (place.env.DOCKER_HOST === engine.endpoint) installed.set(dataDir, instances);
  return place;
}

/** Installations that ran on the run's engine, by data folder. */
const installed = new Map<string, Set<string>>();

/** What an installation leaves in the engine makes each later start slower: its addresses are dialled, its rules are read. */
async function clear({ kind, endpoint }: Parts['engine'], instances: ReadonlySet<string>): Promise<void> {
  const engine = { kind, ...(await engineAt(endpoint)) };
  for (const instance of instances) await removeInstance(engine, instance);
}

/** Starts the built service and waits for its ready line; it ends with `t`. */
export async function startService(
  t: Test,
  { env, dataDir, openFiles }: Place,
  server = SERVER,
): Promise<Running> {
  const limit = openFiles === undefined ? [] : ['prlimit', `--nofile=${openFiles}`];
  const [first = '', ...rest] = [...limit, process.execPath, server];
  const [program, args] = outsideOfTap(first, rest);
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  child.stderr.on('data', (chunk) => lines.push(String(chunk)));
  const output = (): string => lines.join('\n');
  const ended = once(child, 'close').then(([code]) => code as number | null);
  // One that ends by itself, rather than by our signal, is to say why.
  child.once('exit', (code) => {
    if (code !== null && code !== 0)
      console.error(`the service ended with ${code}:\n${output().slice(-4000)}`);
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  t.teardown(() => stop());
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const ready = READY.exec(line);
    if (ready?.[1]) {
      child.stdout.on('data', (chunk) => lines.push(String(chunk)));
      installed.get(dataDir)?.add(await installationOf(dataDir, env['DATABASE_URL']));
      return { address: ready[1], setupCode: ready[2] ?? null, child, output, ended, stop };
    }
  }
  throw new Error(`the service did not start:\n${output()}`);
}

type Answer = { readonly status: number; readonly body: Record<string, unknown> };

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
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };

export const ADMIN = { email: 'root@example.org', username: 'root', password: 'correct horse battery' };

/** Signs the administrator in, setting it up first where that is still to do. */
export async function signInAdmin({ address, setupCode }: Running): Promise<string> {
  const call = client(address);
  const { email, password } = ADMIN;
  const { status, body } =
    setupCode === null
      ? await call('POST', '/api/auth/login', { email, password })
      : await call('POST', '/api/auth/setup', { code: setupCode, ...ADMIN });
  if (status >= 300) throw new Error(`signing in answered ${status} ${JSON.stringify(body)}`);
  return body['token'] as string;
}

/** Starts the service of a place for this work alone, with its administrator signed in. */
export async function whileRunning<T>(
  t: Test,
  place: Place,
  work: (call: ReturnType<typeof client>) => Promise<T>,
): Promise<T> {
  const running = await startService(t, place);
  const result = await work(client(running.address, await signInAdmin(running)));
  await running.stop();
  return result;
}
