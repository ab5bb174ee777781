/** nginx with the configuration of the docs, on loopback and without TLS, before one process or two. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
  const servers = upstreams.map((url) => `  server ${new URL(url).host} max_fails=1 fail_timeout=5s;`);
  const site = readFileSync(CONF, 'utf8')
    .replace(/( {2}server 10\..*\n)+/, `${servers.join('\n')}\n`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
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

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
