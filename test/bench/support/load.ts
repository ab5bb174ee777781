import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'));

export type Load = { readonly requestsPerSecond: number; readonly p99Ms: number };

type LoadOptions = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly connections: number;
};

const hasWrk = (() => {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  return true;
})();

/** wrk where installed, because it leaves more of the machine to the server. */
export const loader = hasWrk ? 'wrk' : 'autocannon';

/** GETs as fast as they are answered. Throws for anything but 2xx. */
export const load = (options: LoadOptions): Promise<Load> =>
  hasWrk ? loadWithWrk(options) : loadWithAutocannon(options);

async function loadWithAutocannon({ url, headers, seconds, connections }: LoadOptions): Promise<Load> {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const args = [AUTOCANNON, '--json', '-c', `${connections}`, '-d', `${seconds}`, ...lines, url];
  const { stdout } = await run(process.execPath, args);
  const result = JSON.parse(stdout) as {
    requests: { average: number };
    latency: { p99: number };
    non2xx: number;
    errors: number;
  };
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`);
  return { requestsPerSecond: result.requests.average, p99Ms: result.latency.p99 };
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

async function loadWithWrk({ url, headers, seconds, connections }: LoadOptions): Promise<Load> {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['--latency', '-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, ...lines, url];
  const { stdout } = await run('wrk', args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const [, rate = ''] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return { requestsPerSecond: Number(rate), p99Ms: Number(p99) * (UNIT_MS[unit] ?? Number.NaN) };
}

export type Client = {
  readonly token: string | null;
  /** Returns the parsed body of a 2xx; throws anything else. */
  readonly call: <T>(method: string, url: string, body?: object) => Promise<T>;
};

export function client(address: string, token: string | null): Client {
  return {
    token,
    async call(method, url, body) {
      const answer = await fetch(address + url, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status} ${text}`);
      return JSON.parse(text);
    },
  };
}

/** The first administrator, signed in, without a request limit and with room for thousands of terminals. */
export async function administrator(address: string, setupCode: string): Promise<Client> {
  const person = { email: 'root@example.org', username: 'root', password: 'correct horse battery' };
  const setup = { code: setupCode, ...person };
  const { token } = await client(address, null).call<{ token: string }>('POST', '/api/auth/setup', setup);
  const admin = client(address, token);
  await admin.call('PATCH', '/api/admin/settings', {
    requests_per_minute: 0,
    sockets_per_address: 1_000_000,
  });
  const { tier } = await admin.call<{ tier: string }>('GET', '/api/me');
  await admin.call('PATCH', `/api/admin/tiers/${tier}`, { max_terminals: 10_000, max_event_sockets: 10_000 });
  return admin;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The value that `share` (0 to 1) of all values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}
