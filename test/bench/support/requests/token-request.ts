/** A request with an API token, against bare Fastify with the same answer. */
import pg from 'pg';
import { type Client, type Load, load, loader, median } from '../load.ts';
import type { Row } from '../report/rows.ts';
import { type Server, startServer } from '../servers.ts';
import { benchToken, onService } from '../whole-service.ts';

const SECONDS = 3;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 32;
const ORDER = ['bare', 'service'] as const;

type Headers = Readonly<Record<string, string>>;
type Round = Load & { readonly cpuUsPerRequest: number };
type Rounds = { readonly bare: Round[]; readonly service: Round[] };

/** The base is Fastify. */
export const tokenRows = (rounds: number): Promise<readonly Row[]> =>
  onService(async ({ service, admin, databaseUrl }) => {
    const bare = await startServer('bare-server.ts', []);
    try {
      const { id, headers } = await benchToken(admin);
      console.log(`${loader}, ${CONNECTIONS} connections, ${rounds} rounds of ${SECONDS} s, taking turns`);
      const all = await inTurns({ bare, service }, headers, rounds, databaseUrl);
      show('bare Fastify', all.bare);
      show('GET /api/tokens/validate', all.service);
      showRatios(all);
      return [rowOf(all, await isRefusedAtOnce(service, admin, id, headers))];
    } finally {
      await bare.stop();
    }
  });

async function inTurns(
  servers: { readonly bare: Server; readonly service: Server },
  headers: Headers,
  rounds: number,
  databaseUrl: string,
): Promise<Rounds> {
  const all: Rounds = { bare: [], service: [] };
  for (const server of Object.values(servers)) await measure(server, headers, WARM_UP_SECONDS);
  const before = await workOnTokens(databaseUrl);
  const start = performance.now();
  for (let i = 0; i < rounds; i += 1) {
    for (const name of i % 2 === 0 ? ORDER : ORDER.toReversed())
      all[name].push(await measure(servers[name], headers, SECONDS));
  }
  const minutes = (performance.now() - start) / 60_000;
  const after = await workOnTokens(databaseUrl);
  const lookups = after.lookups - before.lookups;
  const writes = after.writes - before.writes;
  console.log(
    `in ${minutes.toFixed(1)} minutes: ${lookups} lookups of the token, ${writes} writes of its row`,
  );
  return all;
}

async function measure(server: Server, headers: Headers, seconds: number): Promise<Round> {
  const before = await server.cpuMs();
  const url = `${server.address}/api/tokens/validate`;
  const result = await load({ url, headers, seconds, connections: CONNECTIONS });
  const cpuMs = (await server.cpuMs()) - before;
  return { ...result, cpuUsPerRequest: (cpuMs * 1000) / (result.requestsPerSecond * seconds) };
}

function show(name: string, rounds: readonly Round[]): void {
  const rates = rounds.map((round) => Math.round(round.requestsPerSecond));
  const cpu = median(rounds.map((round) => round.cpuUsPerRequest)).toFixed(1);
  const p99 = median(rounds.map((round) => round.p99Ms)).toFixed(2);
  console.log(
    `${name}: ${median(rates)} req/s (${rates.join(', ')}), p99 ${p99} ms, ${cpu} µs of processor each`,
  );
}

/** Other load only slows a round down, so the best rounds are shown too. */
function showRatios({ bare, service }: Rounds): void {
  const best = (all: readonly Round[]) => Math.max(...all.map((round) => round.requestsPerSecond));
  const cpu = (all: readonly Round[]) => median(all.map((round) => round.cpuUsPerRequest));
  const ofBest = (best(service) / best(bare)).toFixed(2);
  const byCpu = (cpu(bare) / cpu(service)).toFixed(2);
  console.log(`of bare Fastify: of the best rounds ${ofBest}, by processor time ${byCpu}`);
}

function rowOf({ bare, service }: Rounds, isRefused: boolean): Row {
  const rate = (all: readonly Round[]) => median(all.map((round) => round.requestsPerSecond));
  return {
    what: 'a request with an API token (base: Fastify), requests a second',
    values: { base: rate(bare), berth: rate(service) },
    digits: 0,
    targets: [{ of: 'base', atLeast: 0.85 }],
    condition: { text: 'a revoked token is refused at once', isMet: isRefused },
  };
}

type Work = { readonly lookups: number; readonly writes: number };

/** How often tokens were looked up by hash and written, according to PostgreSQL. */
async function workOnTokens(url: string): Promise<Work> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  // A session reports its statistics at most once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await db.query<Work>(`
    select n_tup_upd::int as writes, i.idx_scan::int as lookups
    from pg_stat_user_tables join pg_stat_user_indexes i using (relid)
    where indexrelname = 'api_tokens_hash'
  `);
  await db.end();
  const [work] = rows;
  if (work === undefined) throw new Error('there is no table of tokens');
  return work;
}

/** Whether the first request after the revocation's answer is refused. */
async function isRefusedAtOnce(
  service: Server,
  admin: Client,
  id: string,
  headers: Headers,
): Promise<boolean> {
  const ask = async () => (await fetch(`${service.address}/api/tokens/validate`, { headers })).status;
  if ((await ask()) !== 200) throw new Error('the token was not good before it was revoked');
  await admin.call('POST', `/api/tokens/${id}/revoke`);
  const answered = performance.now();
  const status = await ask();
  const ms = (performance.now() - answered).toFixed(1);
  console.log(`revoked: the next request was answered ${status}, ${ms} ms after the revocation`);
  return status === 401;
}
