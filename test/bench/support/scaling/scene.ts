/** Two processes on one database and one engine, and the port for nginx in front. */

import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { WebSocket } from 'ws';
import { freePort } from '../../../support/listen.ts';
import { administrator, type Client, client } from '../load.ts';
import { listens } from '../ports.ts';
import { installation, startWholeService, type WholeService } from '../whole-service.ts';

export type Scene = {
  readonly admin: Client;
  readonly first: WholeService;
  /** Starts the second process. */
  readonly second: () => Promise<WholeService>;
  readonly proxyPort: number;
  readonly proxy: string;
  readonly work: DatabaseWork;
  stop(): Promise<void>;
};

export async function aScene(): Promise<Scene> {
  const [one, two, proxyPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const settings = {
    BERTH_JWT_SECRET: randomBytes(48).toString('base64'),
    BERTH_DISK_QUOTA: 'soft',
    BERTH_ALLOWED_ORIGINS: [one, two, proxyPort].map(at).join(','),
  };
  const full = await installation({ ...settings, BERTH_PORT: `${one}` });
  const opened: (() => Promise<void>)[] = [full.stop];
  const stop = async (): Promise<void> => {
    for (const each of opened.toReversed()) await each();
  };
  try {
    const work = await databaseWork(full.databaseUrl);
    opened.push(work.stop);
    const admin = await administrator(full.service.address, full.service.setupCode);
    const second = async (): Promise<WholeService> => {
      const own = { BERTH_PORT: `${two}`, DOCKER_HOST: full.endpoint, DATABASE_URL: full.databaseUrl };
      const service = await startWholeService({ ...settings, ...own });
      opened.push(service.stop);
      return service;
    };
    return { admin, second, first: full.service, proxyPort, proxy: at(proxyPort), work, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// nginx with the configuration of the docs, on loopback and without TLS, before one process or two.

const CONF = path.resolve(import.meta.dirname, '../../../../docs/nginx/berth.conf');

/** Its version; null where it is not installed. */
export function nginxVersion(): string | null {
  try {
    return execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

export async function startNginx(port: number, upstreams: readonly string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-nginx-'));
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(file, wholeConf(folder, port, upstreams));
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  for (let tries = 0; !(await listens(port)); tries += 1) {
    if (child.exitCode !== null || tries > 100) throw new Error('nginx does not listen');
    await sleep(50);
  }
  return {
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function wholeConf(folder: string, port: number, upstreams: readonly string[]): string {
  const hosts = upstreams.map((url) => new URL(url).host);
  const serversOf = (_: string, options: string): string =>
    hosts.map((host) => `  server ${host}${options}`).join('\n');
  const site = readFileSync(CONF, 'utf8')
    .replace(/^ {2}server 127\.0\.0\.1:8080(.*)$/gm, serversOf)
    .replace(/^server \{\n {2}listen 80;[\s\S]*?^\}\n/m, '')
    .replace(/ {2}listen \[.*\n/g, '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replace(/ {2}ssl_.*\n/g, '');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder};`);
  return `daemon off;
pid ${folder}/pid;
worker_processes 2;
events { worker_connections 4096; }
http {
  access_log off;
  ${temp.join('\n  ')}
${site}
}
`;
}

// A database's transactions, mostly of one statement.

type DatabaseWork = {
  /** Transactions a second, measured over this many seconds. */
  perSecond(seconds: number): Promise<number>;
  /** Transactions so far. */
  total(): Promise<number>;
  stop(): Promise<void>;
};

async function databaseWork(url: string): Promise<DatabaseWork> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const total = async (): Promise<number> => {
    const text = `select xact_commit + xact_rollback as total from pg_stat_database
      where datname = current_database()`;
    return Number((await db.query<{ total: string }>(text)).rows[0]?.total);
  };
  return {
    total,
    async perSecond(seconds) {
      const [before, start] = [await total(), performance.now()];
      await sleep(seconds * 1000);
      // The measurement itself is one of them.
      return ((await total()) - before - 1) / ((performance.now() - start) / 1000);
    },
    stop: () => db.end(),
  };
}

// Pages of signed-in people, as far as the service notices them: an event socket that pings, and a list once a minute.

const PING_EVERY_MS = 25_000;
const LIST_EVERY_MS = 60_000;

/** One page for each token; `close` closes them. */
export async function openPages(address: string, tokens: readonly string[]): Promise<{ close(): void }> {
  const timers: NodeJS.Timeout[] = [];
  const sockets: WebSocket[] = [];
  for (const [n, token] of tokens.entries()) {
    const url = `${address.replace('http', 'ws')}/api/events`;
    const socket = new WebSocket(url, ['berth.events.v1', `bearer.${token}`], { origin: address });
    sockets.push(socket);
    await once(socket, 'open');
    const list = (): void => void client(address, token).call('GET', '/api/containers');
    // Spread over the minute, as people are.
    const first = setTimeout(
      () => {
        list();
        timers.push(setInterval(list, LIST_EVERY_MS));
      },
      (n / tokens.length) * LIST_EVERY_MS,
    );
    timers.push(first);
    timers.push(setInterval(() => socket.send('{"type":"ping","t":1}'), PING_EVERY_MS));
  }
  return {
    close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.terminate();
    },
  };
}
