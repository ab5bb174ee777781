/**
 * The share of Fastify's request rate that an API token's check leaves. Bare Fastify and the service alternate on the
 * same machine; the median of the rounds counts.
 */
import pg from 'pg';
import { administrator, type Load, load, loader, median } from './support/load.ts';
import { type Server, startServer } from './support/servers.ts';
import { emptyDatabase } from './support/whole-service.ts';

const ROUNDS = Number(process.argv[2] ?? 9);
const SECONDS = 3;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 32;
const WANTED_RATIO = 0.6;

type Round = Load & { readonly cpuUsPerRequest: number };

const database = await emptyDatabase();
const bare = await startServer('bare-server.ts', []);
const service = await startServer('service-server.ts', [database.url]);
try {
  const admin = await administrator(service.address, service.setupCode);
  const made = await admin.call<{ id: string; token: string }>('POST', '/api/tokens', { name: 'bench' });
  const headers = { authorization: `Bearer ${made.token}` };
  console.log(`${loader}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s, taking turns`);

  const rounds: { bare: Round[]; service: Round[] } = { bare: [], service: [] };
  for (const server of [bare, service]) await measure(server, headers, WARM_UP_SECONDS);
  const before = await workOnTokens(database.url);
  const start = performance.now();
  for (let i = 0; i < ROUNDS; i += 1) {
    rounds.bare.push(await measure(bare, headers, SECONDS));
    rounds.service.push(await measure(service, headers, SECONDS));
  }
  const minutes = (performance.now() - start) / 60_000;
  const after = await workOnTokens(database.url);
  show('bare Fastify', rounds.bare);
  show('GET /api/tokens/validate', rounds.service);
  const best = (all: readonly Round[]) => Math.max(...all.map((round) => round.requestsPerSecond));
  const medianOf = (all: readonly Round[], pick: (round: Round) => number) => median(all.map(pick));
  const ratio = (pick: (round: Round) => number) =>
    medianOf(rounds.service, pick) / medianOf(rounds.bare, pick);
  const ofMedians = ratio((round) => round.requestsPerSecond);
  const ofBest = best(rounds.service) / best(rounds.bare);
  const byCpu = 1 / ratio((round) => round.cpuUsPerRequest);
  console.log(
    `ratio: ${ofMedians.toFixed(2)} of bare; of the best rounds ${ofBest.toFixed(2)}, by processor time ${byCpu.toFixed(2)}`,
  );
  const lookups = after.lookups - before.lookups;
  const writes = after.writes - before.writes;
  console.log(
    `in ${minutes.toFixed(1)} minutes: ${lookups} lookups of the token, ${writes} writes of its row`,
  );
  const refusedAfterMs = await revocation(admin, made, headers);
  console.log(`revoked: refused by the next request, ${refusedAfterMs.toFixed(1)} ms after the answer`);
  // Other load only slows a round down, so the best rounds are the most telling.
  process.exitCode = Math.max(ofMedians, ofBest) >= WANTED_RATIO ? 0 : 1;
} finally {
  await service.stop();
  await bare.stop();
  await database.stop();
}

async function measure(server: Server, headers: Record<string, string>, seconds: number): Promise<Round> {
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

async function revocation(
  admin: Awaited<ReturnType<typeof administrator>>,
  { id }: { id: string },
  headers: Record<string, string>,
): Promise<number> {
  const ask = async () => (await fetch(`${service.address}/api/tokens/validate`, { headers })).status;
  if ((await ask()) !== 200) throw new Error('the token was not good before it was revoked');
  await admin.call('POST', `/api/tokens/${id}/revoke`);
  const answered = performance.now();
  const status = await ask();
  if (status !== 401) throw new Error(`a revoked token was answered ${status}`);
  return performance.now() - answered;
}
