import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import * as patient from '../patience.ts';
import { waitFor } from '../patience.ts';
import { castOf, shown } from '../terminal/recordings.ts';
import { type TerminalClient, terminalClient } from '../terminal/terminal-client.ts';
import {
  aContainerWithCanary,
  type Call,
  eventually,
  inside,
  type Pair,
  type Replica,
} from './fault-scene.ts';
import { client } from './running-service.ts';

const SESSIONS = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}' | sort | tr '\\n' ' '";
const MARKED = 'grep -lsF BERTH_TERM= /proc/[0-9]*/environ | wc -l';
/**
 * Prints until the file is there, or its session ends. tmux redraws for a slow reader and skips the lines between: no
 * number of lines is sure to become a number of bytes.
 */
const MUCH = 'until [ -e /tmp/enough ]; do echo héllo🚢 $((n += 1)); done';
const ENOUGH = 'touch /tmp/enough';
/** How often the file grows before the kill: the typed line accounts for one or two. */
const WRITES = 5;

const type = ({ socket }: TerminalClient, text: string): void =>
  socket.send(Buffer.from(text), { binary: true });

const panesListed = async (call: Call): Promise<string[]> => {
  const { terminals } = (await call('GET', '/api/admin/terminals')).body;
  return (terminals as { connection_id: string }[]).map(({ connection_id }) => connection_id).sort();
};

/** Kills one of two replicas while terminals of both are at work in a new container. */
export async function terminalKills(t: Test, { url, login, replicas: [one, other] }: Pair): Promise<void> {
  const { dbId } = await aContainerWithCanary(client(one.address(), login));
  const scene: Scene = { one, dbId, url, call: () => client(one.address(), login) };
  const open = async (at: Replica, pane: string, query = {}) => {
    const address = at.address();
    const opened = await terminalClient(
      { address: address.replace('http', 'ws'), dbId, token: login },
      { connection_id: pane, ...query },
      { origin: address, patienceMs: 60_000 },
    );
    await opened.until(() => opened.output().includes('# '));
    return opened;
  };
  const callOther = client(other.address(), login);
  const main = await open(one, 'main');
  const recorded = await open(one, 'split', { record: 'true' });
  await open(other, 'theirs');
  await isAtWork(t, scene, callOther, main);
  const recording = await isRecorded(scene, recorded);
  await one.kill();
  await inside(callOther, dbId, ENOUGH);
  const left = cutShort(t, recording());
  await one.restart();
  await t.test('a killed service leaves nothing in containers but sessions', (t) =>
    leavesSessions(t, scene, callOther),
  );
  await t.test("a killed service's recording lacks only its last moment", (t) =>
    lacksTheEnd(t, scene, recording(), left),
  );
  await t.test('a client returns to the same session, redrawn', async (t) => {
    const resume = { stream: main.ready.stream, after: main.output().length };
    const after = await open(one, 'main', resume);
    t.match(after.ready, { redraw: true, mux_session: 'main' });
    t.not(after.ready.stream, main.ready.stream);
    await after.until(() => after.output().includes('still-42'));
    after.socket.terminate();
  });
  await t.test("a session without a returning client ends; another process's stays", (t) =>
    endsTheRest(t, scene, callOther),
  );
}

type Scene = {
  readonly one: Replica;
  readonly dbId: string;
  readonly url: string;
  /** Requests to the present run of the killed service. */
  readonly call: () => Call;
};
type Recording = { readonly file: string; readonly text: string };

async function isAtWork(t: Test, { dbId }: Scene, callOther: Call, main: TerminalClient): Promise<void> {
  t.same(await panesListed(callOther), ['main', 'split', 'theirs']);
  t.equal(await inside(callOther, dbId, SESSIONS), 'main pane-split pane-theirs ');
  type(main, 'echo still-$((40+2))\r');
  await main.until(() => main.output().includes('still-42'));
}

/** Resolves in the middle of much output, some of it in the file; what it answers reads the file. */
async function isRecorded({ one }: Scene, terminal: TerminalClient): Promise<() => Recording> {
  const folder = path.join(one.dataDir, 'recordings');
  const read = (): Recording => {
    const file = path.join(folder, readdirSync(folder)[0] ?? '');
    return { file, text: readFileSync(file, 'utf8') };
  };
  type(terminal, 'echo mark-$((6*7))\n');
  const isWritten = (): boolean => read().text.includes('mark-42');
  await waitFor(isWritten, { what: 'what was shown is in the file, without an end', patienceMs: 60_000 });
  type(terminal, `${MUCH}\n`);
  let [sizeBytes, writes] = [0, 0];
  const isGrowing = (): boolean => {
    const { length } = read().text;
    if (length > sizeBytes) writes += 1;
    sizeBytes = length;
    return writes > WRITES;
  };
  const what = () => `the file grows: ${sizeBytes} bytes; ${terminal.output().subarray(-200)}`;
  await waitFor(isGrowing, { what, patienceMs: 60_000 });
  return read;
}

/** Returns the time of the last complete event; half of another one follows, as after a death during a write. */
function cutShort(t: Test, { file, text }: Recording): number {
  const full = castOf(text.slice(0, text.lastIndexOf('\n') + 1));
  t.match(full.header, { version: 2 });
  t.match(text, /mark-42/, 'what was shown a while ago is in the file');
  appendFileSync(file, '[99.5,"o","h');
  return Number(full.events.at(-1)?.[0]);
}

async function leavesSessions(t: Test, { dbId, call }: Scene, callOther: Call): Promise<void> {
  t.same(await panesListed(callOther), ['theirs'], 'a restart ends what was on record of the run before');
  const marked = () => inside(call(), dbId, MARKED);
  const what = 'the programs that the killed one was attached by end at once';
  t.equal(await eventually(marked, (left) => left === '1\n'), '1\n', what);
  const sessions = await inside(call(), dbId, SESSIONS);
  t.equal(sessions, 'main pane-split pane-theirs ', 'a client may come back');
}

async function lacksTheEnd(t: Test, { call }: Scene, { file, text }: Recording, left: number): Promise<void> {
  const { body } = await call()('GET', '/api/recordings');
  const [recording] = body['recordings'] as [Record<string, unknown>];
  t.match(recording, { state: 'ended', ended_at: String });
  t.equal(Buffer.byteLength(text), recording['size_bytes']);
  t.ok(Number(recording['duration_ms']) >= Math.floor(left * 1000), 'as long as what is left of it');
  t.notMatch(text, /99\.5/, 'half a line is gone');
  // tmux itself drops the rest of a character when it skips output; a control sequence follows.
  const skipped = '\ufffd\x1b';
  t.notMatch(shown(text).replaceAll(skipped, ''), '\ufffd', 'and no character is in halves');
  t.match((await call()('DELETE', `/api/recordings/${recording['id']}`)).body, { deleted: true });
  t.same(readdirSync(path.dirname(file)), []);
}

async function endsTheRest(t: Test, { dbId, url }: Scene, callOther: Call): Promise<void> {
  // Instead of waiting a minute.
  const db = new pg.Client(url);
  await db.connect();
  await db.query(`update replica_runs set seen_at = seen_at - interval '2 minutes'
    where run in (select run from terminal_holds where mux_session = 'pane-split')`);
  await db.end();
  const ended = 'main pane-theirs ';
  const sessions = () => inside(callOther, dbId, SESSIONS);
  // At a running service's next check, so it is worth few commands.
  const patience = { patienceMs: 150_000, everyMs: 1_000 };
  t.equal(await patient.eventually(sessions, (left) => left === ended, patience), ended);
}
