import { BerthError, type Schemas } from '../../client/index.ts';
import { type Cli, targetIn } from '../cli.ts';
import { tokenSource } from '../connect.ts';
import { cliErrorOf } from '../failures.ts';
import { anonymous } from '../profiles/auth-calls.ts';
import { isUnencrypted, type Target } from '../profiles/target.ts';
import { VERSION } from '../version.ts';
import { olderThan } from '../version-note.ts';
import { causeWords } from './cause-words.ts';
import { tryUpgrade } from './upgrade.ts';

/** `skipped`: the check could not be made; the detail says why. */
export type Result = 'ok' | 'warning' | 'failed' | 'skipped';

export type Check = { readonly check: string; readonly result: Result; readonly detail: string };

const MAX_SKEW_SECONDS = 30;

/** Short: people run `berth doctor` when something is slow already. */
const ONE_TRY = { timeoutMs: 15_000, retries: { retries: 0, firstMs: 0, maxMs: 0, maxWaitMs: 0 } };

/** All checks, in order; those that need what has failed are skipped. */
export async function checkAll(cli: Cli): Promise<readonly Check[]> {
  const target = targetIn(cli);
  const reached = await reach(target.server);
  if (reached.check.result === 'failed') return [reached.check];
  return [
    reached.check,
    encryption(target),
    versions(reached.version),
    clock(reached.date),
    await credential(cli, target),
    await sockets(cli, target),
    ...(await readiness(target)),
  ];
}

async function reach(server: string): Promise<{ check: Check; version: string; date: string | null }> {
  const startedAt = performance.now();
  try {
    const { data, response } = await anonymous(server, ONE_TRY).api.GET('/api/version');
    const tookMs = Math.round(performance.now() - startedAt);
    const check = { check: 'service', result: 'ok', detail: `${server} answered in ${tookMs} ms` } as const;
    return { check, version: data?.version ?? '', date: response.headers.get('date') };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const detail = `${server}: ${error.status === 0 ? causeWords(error) : error.message}`;
    return { check: { check: 'service', result: 'failed', detail }, version: '', date: null };
  }
}

const encryption = ({ server }: Target): Check =>
  isUnencrypted(server)
    ? {
        check: 'encryption',
        result: 'warning',
        detail: 'plain http: anyone on the network path can read your token',
      }
    : {
        check: 'encryption',
        result: 'ok',
        detail: server.startsWith('https') ? 'https' : 'this machine only',
      };

function versions(version: string): Check {
  const detail = `the server has ${version || 'no version'}, this command ${VERSION}`;
  const agree = version === VERSION;
  const advice = olderThan(VERSION, version) ? '; install the command again, from the settings page' : '';
  return { check: 'versions', result: agree ? 'ok' : 'warning', detail: detail + advice };
}

function clock(date: string | null): Check {
  if (date === null) return { check: 'clock', result: 'skipped', detail: 'the answer had no time' };
  const skew = Math.round((Date.now() - Date.parse(date)) / 1000);
  const detail = `${Math.abs(skew)} s ${skew >= 0 ? 'ahead of' : 'behind'} the server`;
  return { check: 'clock', result: Math.abs(skew) > MAX_SKEW_SECONDS ? 'warning' : 'ok', detail };
}

async function credential(cli: Cli, target: Target): Promise<Check> {
  const check = 'credential';
  if (target.kind === 'anonymous') return { check, result: 'failed', detail: 'not signed in: berth login' };
  try {
    const { username } = await cli.berth().me.get();
    return { check, result: 'ok', detail: `signed in as ${username}` };
  } catch (error) {
    const failure = cliErrorOf(error);
    if (failure === null) throw error;
    return { check, result: 'failed', detail: [failure.message, failure.next].filter(Boolean).join(' ') };
  }
}

/** Terminals and events need WebSockets, which a proxy may not pass on. */
async function sockets(cli: Cli, target: Target): Promise<Check> {
  const check = 'websockets';
  if (target.kind === 'anonymous') return { check, result: 'skipped', detail: 'needs a sign-in' };
  const token = await tokenOf(cli, target);
  if (token === null) return { check, result: 'skipped', detail: 'needs a valid credential' };
  const outcome = await tryUpgrade(target.server, token);
  switch (outcome.kind) {
    case 'upgraded':
      return { check, result: 'ok', detail: 'the upgrade reached the server' };
    case 'answered':
      return outcome.status === 401 || outcome.status === 403
        ? { check, result: 'skipped', detail: 'needs a valid credential' }
        : {
            check,
            result: 'failed',
            detail: `answered ${outcome.status}: a proxy does not pass on the Upgrade header (docs/nginx/berth.conf)`,
          };
    case 'failed':
      return { check, result: 'failed', detail: outcome.words };
  }
}

async function tokenOf({ hosts }: Cli, target: Target): Promise<string | null> {
  try {
    const source = tokenSource(target, hosts);
    return typeof source === 'function' ? await source() : source;
  } catch (error) {
    if (cliErrorOf(error) === null) throw error;
    return null;
  }
}

type Parts = Schemas['Readiness']['parts'];
type PartStatus = Parts['database']['status'];

const RESULTS = {
  ready: 'ok',
  testing: 'skipped',
  degraded: 'warning',
  down: 'failed',
} as const satisfies Readonly<Record<PartStatus, Result>>;

const WORDS: Partial<Readonly<Record<PartStatus, string>>> = {
  testing: 'being tested: run this again in two minutes',
};

async function readiness({ server }: Target): Promise<readonly Check[]> {
  const parts = await readParts(server);
  if (parts === null)
    return [{ check: 'readiness', result: 'skipped', detail: 'the server did not report it' }];
  return Object.entries(parts).map(([name, part]): Check => {
    const { status, detail, mend } = part as Parts['database'] & { detail?: string; mend?: string };
    const words = [detail ?? WORDS[status] ?? status, mend && `to fix: ${mend}`].filter(Boolean).join('; ');
    return { check: name, result: RESULTS[status], detail: words };
  });
}

/** An unready service answers 503 with the same body. */
async function readParts(server: string): Promise<Parts | null> {
  try {
    return (await anonymous(server).api.GET('/readyz')).data?.parts ?? null;
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    return (error.body['parts'] as Parts | undefined) ?? null;
  }
}
