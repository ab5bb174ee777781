import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import t, { type Test } from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import { descriptorsOf } from '../support/engine/instance.ts';
import { waitFor } from '../support/patience.ts';
import { type Call, small } from '../support/process/fault-scene.ts';
import {
  anInstallation,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const OPEN_FILES = 256;
const SILENT = 320;
/** Silent connections between two rounds of requests. */
const ROUND = 64;
const TERMINALS = 14;
/** Terminals with deaf clients: more than the service has database connections. */
const DEAF = 12;

type Scene = {
  readonly running: Running;
  readonly call: Call;
  readonly token: string;
  /** The container's row, and itself. */
  readonly dbId: string;
  readonly id: string;
  readonly db: pg.Client;
  /** Connections that never send anything. */
  readonly silent: Socket[];
};

const engine = await engineOrSkip(t);
const url = await freshDatabase(t);
const installation = url === null ? null : await anInstallation(t, { DATABASE_URL: url });
if (engine !== null && url !== null && installation !== null) {
  const running = await startService(t, { ...installation, openFiles: OPEN_FILES });
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  const made = await call('POST', '/api/containers', { name: 'dev', ...small });
  const { db_id: dbId, id } = made.body as { db_id: string; id: string };
  const db = new pg.Client(url);
  await db.connect();
  const scene: Scene = { running, call, token, dbId, id, db, silent: [] };
  await t.test(
    `with ${OPEN_FILES} descriptors and ${SILENT} silent connections signed-in users work on`,
    (t) => worksOn(t, scene),
  );
  await t.test('SIGTERM lets requests end, asks each terminal to reconnect, and records each end', (t) =>
    stopsInOrder(t, scene, engine),
  );
  for (const socket of scene.silent) socket.destroy();
  await db.end();
}

async function worksOn(t: Test, { running, call, dbId, silent }: Scene): Promise<void> {
  const { hostname, port } = new URL(running.address);
  const codes = new Map<number, number>();
  for (let n = 0; n < SILENT; n += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    silent.push(socket.on('error', () => {}).resume());
    await once(socket, 'connect');
    if ((n + 1) % ROUND !== 0) continue;
    const [list, run, sign] = await Promise.all([
      call('GET', '/api/containers'),
      call('POST', `/api/containers/${dbId}/exec`, { command: ['true'] }),
      // A new client.
      fetch(`${running.address}/readyz`, { headers: { connection: 'close' } }),
    ]);
    for (const { status } of [list, run, sign]) codes.set(status, (codes.get(status) ?? 0) + 1);
  }
  t.same([...codes], [[200, (3 * SILENT) / ROUND]]);
  const pid = running.child.pid as number;
  t.ok(descriptorsOf(pid) < OPEN_FILES, `${descriptorsOf(pid)} descriptors are open`);
  t.equal(running.child.exitCode, null);
}

/** A command that continues until ended from outside the service. */
async function aCommand({ call, dbId, id }: Scene, { docker }: TestEngine) {
  const path = `/api/containers/${dbId}/exec`;
  const script = 'echo begun > begun; until [ -e end ]; do sleep 0.1; done; echo ended';
  const going = call('POST', path, { command: ['sh', '-c', script] });
  const hasBegun = async () => {
    const { body } = await call('POST', path, { command: ['cat', 'begun'] });
    return body['stdout'] === 'begun\n';
  };
  await waitFor(hasBegun, { everyMs: 200 });
  const end = async (): Promise<void> => {
    const Cmd = ['touch', '/workspace/end'];
    const exec = await docker.getContainer(id).exec({ Cmd, AttachStdout: true, AttachStderr: true });
    await once((await exec.start({})).resume(), 'end');
  };
  return { going, end };
}

async function stopsInOrder(t: Test, scene: Scene, engine: TestEngine): Promise<void> {
  const { running, token, dbId, db } = scene;
  const at = { address: running.address.replace('http', 'ws'), dbId, token };
  const options = { origin: running.address, patienceMs: 60_000 };
  const opened = await Promise.all(
    Array.from({ length: TERMINALS }, (_, n) =>
      terminalClient(at, { connection_id: n === 0 ? 'main' : `p${n}` }, options),
    ),
  );
  // They do not answer a close.
  const deaf = opened.slice(-DEAF);
  for (const { socket } of deaf) socket.pause();
  const { going, end } = await aCommand(scene, engine);
  const records = async (): Promise<number> =>
    (await db.query('select count(*)::int as count from terminal_records')).rows[0].count;
  const stopped = running.stop();
  await waitFor(() => running.output().includes('Stopping'));
  await end();
  t.match(await going, { status: 200, body: { stdout: 'ended\n' } });
  // All are asked to reconnect; deaf ones are cut off later.
  await waitFor(async () => (await records()) === DEAF, { everyMs: 20 });
  // The database is blocked from before that moment until after it.
  await db.query('begin');
  await db.query('lock table terminal_records in access exclusive mode');
  await waitFor(async () => (await blockedBy(db)) > 0, { everyMs: 20 });
  await db.query('commit');
  t.equal(await stopped, 0);
  for (const one of opened.slice(0, -DEAF)) t.match(await one.closed(), [4012]);
  const { rows } = await db.query(
    `select action, count(*)::int from audit_records where action like 'terminal_%' group by action order by action`,
  );
  t.same(rows, [
    { action: 'terminal_closed', count: TERMINALS },
    { action: 'terminal_opened', count: TERMINALS },
  ]);
  t.same((await db.query('select id from terminal_records')).rows, [], 'and no record of one is left');
  for (const { socket } of opened) socket.terminate();
}

/** How many statements wait for a lock in this database. */
async function blockedBy(db: pg.Client): Promise<number> {
  const waiting = `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`;
  return (await db.query(waiting)).rows[0].count;
}
