import pg from 'pg';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { freshDatabase } from '../support/database/database.ts';
import { descriptorsOf } from '../support/engine/host.ts';
import { type Call, eventually, inside } from '../support/process/fault-scene.ts';
import { aPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';

const ROUNDS = process.env['FAULTS'] === 'all' ? 10 : 1;
const BURST = 200;
const NAMES = 'sed -n "s/^Name:.//p" /proc/[0-9]*/status | sort | uniq -c | tr -s " \\n" " ;"';
const SESSIONS = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}' | sort | tr '\\n' ' '";
/** Longer than a client waits for its turn, and than 200 are opened one after the other on a busy machine. */
const PATIENCE_MS = 120_000;
const GONE_WITHIN_SECONDS = 75;
/** Connections to the engine and the database that are kept for the next request. */
const SPARE_DESCRIPTORS = 16;

type Outcome = 'ready' | `refused ${string}` | `closed ${number}` | 'left' | 'silent';
type One = { readonly socket: WebSocket; readonly outcome: Promise<Outcome> };

/** A terminal that is asked for. One that is `hasty` leaves as soon as its upgrade is answered. */
function ask(url: string, origin: string, token: string, hasty: boolean): One {
  const socket = new WebSocket(url, ['berth.terminal.v1', `bearer.${token}`], { origin });
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  setTimeout(resolve, PATIENCE_MS, 'silent').unref();
  socket.on('error', () => {});
  socket.on('close', (code) => resolve(`closed ${code}`));
  socket.on('unexpected-response', (request, { statusCode, headers }) => {
    resolve(
      `refused ${statusCode ?? 0}${headers['retry-after'] === undefined ? ', not told when to come' : ''}`,
    );
    request.destroy();
  });
  if (hasty)
    socket.on('open', () => {
      resolve('left');
      socket.terminate();
    });
  socket.on('message', (data, isBinary) => {
    if (!isBinary && JSON.parse(String(data)).type === 'ready') resolve('ready');
  });
  return { socket, outcome };
}

/** All at once; half of those that open are closed, and every fourth leaves before it is told anything. */
async function burst(t: Test, address: string, dbId: string, token: string, round: number): Promise<void> {
  const at = `${address.replace('http', 'ws')}/api/containers/${dbId}/terminal`;
  const all = Array.from({ length: BURST }, (_, n) =>
    ask(`${at}?connection_id=r${round}-${n}`, address, token, n % 4 === 3),
  );
  const outcomes = await Promise.all(all.map(({ outcome }) => outcome));
  t.comment(`round ${round}`, JSON.stringify(Object.fromEntries(countBy(outcomes))));
  const expected = new Set<Outcome>(['ready', 'refused 503', 'closed 1013', 'closed 4014', 'left']);
  t.same(
    outcomes.filter((outcome) => !expected.has(outcome)),
    [],
    'each is open, or refused in words',
  );
  t.ok(outcomes.includes('ready'), 'some are open');
  for (const { socket } of all) socket.close(1000);
}

function countBy(outcomes: readonly Outcome[]): ReadonlyMap<Outcome, number> {
  const counts = new Map<Outcome, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

async function aRoomyContainer(call: Call): Promise<string> {
  const sizes = { memory_mb: 2048, cpu_shares: 2000, disk_mb: 512 };
  const { status, body } = await call('POST', '/api/containers', { name: 'burst', ...sizes });
  if (status !== 201) throw new Error(`create answered ${status} ${JSON.stringify(body)}`);
  return body['db_id'] as string;
}

t.setTimeout(3_600_000);
t.test(`${BURST} terminals at once leave nothing a minute later, ${ROUNDS} times`, async (t) => {
  const url = await freshDatabase(t);
  const place = await aPlace(t, { DATABASE_URL: url ?? '' });
  if (url === null || place === null) return;
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
  const running = await startService(t, place);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  await call('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  const dbId = await aRoomyContainer(call);
  const count = async (table: string): Promise<number> =>
    (await db.query(`select count(*)::int as n from ${table}`)).rows[0].n;
  const left = async () => ({
    processes: await inside(call, dbId, NAMES),
    sessions: await inside(call, dbId, SESSIONS),
    holds: await count('terminal_holds'),
    records: await count('terminal_records'),
    descriptors: descriptorsOf(running.child.pid ?? 0),
  });
  type Left = Awaited<ReturnType<typeof left>>;
  // One that stays, so that the server of the sessions does as well.
  const main = ask(
    `${running.address.replace('http', 'ws')}/api/containers/${dbId}/terminal`,
    running.address,
    token,
    false,
  );
  t.equal(await main.outcome, 'ready');
  const before = await left();
  t.comment(JSON.stringify(before));
  const isBack = (now: Left): boolean =>
    now.descriptors <= before.descriptors + SPARE_DESCRIPTORS &&
    JSON.stringify({ ...now, descriptors: 0 }) === JSON.stringify({ ...before, descriptors: 0 });
  for (let round = 1; round <= ROUNDS; round += 1) {
    await burst(t, running.address, dbId, token, round);
    const begunMs = performance.now();
    const after = await eventually(left, isBack, GONE_WITHIN_SECONDS);
    t.comment(`after ${Math.round((performance.now() - begunMs) / 1000)} s`, JSON.stringify(after));
    t.same(
      { ...after, descriptors: 0 },
      { ...before, descriptors: 0 },
      'what is left in the container and on record',
    );
    t.ok(
      after.descriptors <= before.descriptors + SPARE_DESCRIPTORS,
      `descriptors: ${before.descriptors}, then ${after.descriptors}`,
    );
  }
  main.socket.close(1000);
});
