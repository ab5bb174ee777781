import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'));

export type Load = { readonly requestsPerSecond: number; readonly p99Ms: number };

export type LoadOptions = {
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

/** What loads: wrk where it is installed, because it leaves more of the machine to the server. */
export const loader = hasWrk ? 'wrk' : 'autocannon';

/** GETs as fast as they are answered. Throws when anything but 2xx comes back. */
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
