import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { memoryRecordingFiles } from '../../../src/adapters/memory/terminals/recording-files.ts';
import type { RecordingFiles } from '../../../src/ports/terminals/recording-files.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster } from '../../support/service/cluster.ts';
import { as, outcome } from '../../support/service/service.ts';
import {
  aBrowserTerminal,
  aStudio,
  castOf,
  played,
  rowsOf,
  shown,
} from '../../support/terminal/recordings.ts';
import { type FakePty, fakeTerminals } from '../../support/terminal/terminals.ts';

const MIB = 1_048_576;

t.test('a full quota ends the recording with a notice, never the terminal', async (t) => {
  const { open, record, call, cast, pty, service } = await aStudio(t);
  const { settings } = service.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 1 });
  const client = await open();
  const { id } = (await record()).json();
  let sent = 0;
  const say = async (bytes: number): Promise<void> => {
    sent += bytes;
    pty().say('x'.repeat(bytes));
    await client.until(() => client.output().length === sent);
  };
  while (sent < MIB - 60_000) await say(50_000);
  while (sent < MIB + 10_000) await say(2_000);
  await waitFor(async () => (await call('GET', `/api/recordings/${id}`)).json().state === 'truncated');
  const { size_bytes } = (await call('GET', `/api/recordings/${id}`)).json();
  t.ok(size_bytes <= MIB, `${size_bytes} bytes`);
  t.ok(size_bytes > MIB - 4_000, 'and not much less');
  const text = await cast(id);
  t.equal(text.length, size_bytes);
  t.match(castOf(text).header, { version: 2 });
  await client.until(() => client.messages.some(({ message }) => /use all the space/.test(String(message))));
  t.match(client.messages.filter(({ type }) => type === 'recording').at(-1), { on: false, id });
  t.equal(client.socket.readyState, client.socket.OPEN);

  t.match(outcome(await record()), [409, 'recording_quota_reached']);
  const other = await open({ connection_id: 'b', record: 'true' });
  await other.until(() => other.messages.length > 2);
  t.match(other.messages, [{ type: 'ready' }, { type: 'recording', on: false }, { type: 'notice' }]);
  await call('DELETE', `/api/recordings/${id}`);
  t.equal((await record()).statusCode, 201, 'what is deleted makes room');
});

t.test('active recordings of one user share a quota; a smaller one applies at once', async (t) => {
  const { open, record, call, pty, pass, service } = await aStudio(t);
  const { settings } = service.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 1 });
  const clients = [await open(), await open({ connection_id: 'b' })];
  const [first, second] = [(await record()).json().id, (await record({ connection_id: 'b' })).json().id];
  const say = async (index: number, bytes: number): Promise<void> => {
    pty(index).say('x'.repeat(bytes));
    await clients[index]?.until(() => clients[index]?.output().length === bytes);
  };
  const read = async (id: string) => (await call('GET', `/api/recordings/${id}`)).json();
  const isTruncated = async (id: string) => (await read(id)).state === 'truncated';
  await say(0, 700_000);
  await waitFor(async () => {
    await service.writeDue();
    return (await read(first)).size_bytes > 700_000;
  });
  await pass(20_000);
  await say(1, 400_000);
  await waitFor(() => isTruncated(second));
  t.match(await read(first), { state: 'recording' });
  await settings.change({ recordingsMbPerUser: 0 });
  await pass(20_000);
  pty(0).say('one more');
  await waitFor(() => isTruncated(first));
});

/** Files that fail or stall on request. */
function poorFiles() {
  const good = memoryRecordingFiles();
  let mode: 'good' | 'failing' | 'stuck' = 'good';
  const files: RecordingFiles = {
    ...good,
    async create(id) {
      if (mode === 'failing') throw new Error('no space left');
      const file = await good.create(id);
      return {
        ...file,
        async append(lines) {
          if (mode === 'failing') throw new Error('no space left');
          if (mode === 'stuck') await new Promise(() => {});
          await file.append(lines);
        },
      };
    },
  };
  return {
    files,
    become(next: typeof mode): void {
      mode = next;
    },
  };
}

t.test('a failing disk ends the recording, never the terminal', async (t) => {
  const { files, become } = poorFiles();
  const { open, record, call, cast, pty } = await aStudio(t, { ports: { recordingFiles: files } });
  const client = await open();
  const { id } = (await record()).json();
  pty().say('kept');
  await waitFor(async () => shown(await cast(id)) === 'kept');
  become('failing');
  pty().say('lost');
  await waitFor(async () => (await call('GET', `/api/recordings/${id}`)).json().state === 'truncated');
  t.equal(shown(await cast(id)), 'kept');
  await client.until(() =>
    client.messages.some(({ message }) => /could not be written/.test(String(message))),
  );
  pty().say(' and on');
  await client.until(() => client.output().toString() === 'keptlost and on');
  t.equal((await record()).statusCode, 500);
  t.equal((await call('GET', '/api/recordings')).json().recordings.length, 1, 'and none that has no file');
  const other = await open({ connection_id: 'b', record: 'true' });
  pty().say('$ ');
  await other.until(() => other.output().length === 2);
});

t.test('a stalled disk neither delays a terminal nor uses endless memory', async (t) => {
  const { files, become } = poorFiles();
  const { open, record, pty } = await aStudio(t, { ports: { recordingFiles: files } });
  const client = await open();
  await record();
  become('stuck');
  // Six bytes each in a recording.
  const chunk = '\0'.repeat(60_000);
  for (let sent = 0; sent < 2 * MIB; ) {
    sent += chunk.length;
    pty().say(chunk);
    await client.until(() => client.output().length === sent);
  }
  await client.until(() => client.messages.some(({ message }) => /faster than/.test(String(message))));
  t.equal(client.socket.readyState, client.socket.OPEN);
});

t.test("a dead process's recording is ended as far as it was written", async (t) => {
  const { ada, dbId, files, service, call, cast } = await aStudio(t);
  const { recordings } = service.ports.storage.repositories;
  const left = async (replica: string, text: string | null) => {
    const place = { userId: ada.id, dbId, containerName: 'dev', connectionId: 'main' };
    const { id } = await recordings.insert({ ...place, id: randomUUID(), cols: 80, rows: 24, replica });
    if (text !== null) await (await files.create(id)).append(text);
    return id;
  };
  const full = '{"version":2,"width":80,"height":24}\n[1.5,"o","a"]\n';
  const cut = await left(randomUUID(), `${full}[2,"o","b`);
  const lost = await left(randomUUID(), null);
  await service.recordings.sweep();
  t.match((await call('GET', `/api/recordings/${cut}`)).json(), { state: 'recording' }, 'it may be alive');
  service.clock.advance(120_000);
  await service.recordings.sweep();
  const ended = { state: 'ended', size_bytes: full.length, duration_ms: 1500, ended_at: String };
  t.match((await call('GET', `/api/recordings/${cut}`)).json(), ended);
  t.equal(await cast(cut), full);
  t.match((await call('GET', `/api/recordings/${lost}`)).json(), { state: 'ended', size_bytes: 0 });
  t.match(outcome(await call('GET', `/api/recordings/${lost}/cast`)), [503, 'recording_elsewhere']);
});

t.test('a file without a row is removed when it is old', async (t) => {
  const { open, record, service, files, pass } = await aStudio(t);
  await service.recordings.sweep();
  await open();
  const { id } = (await record()).json();
  const orphan = randomUUID();
  const young = randomUUID();
  for (const name of [orphan, young]) await (await files.create(name)).append('x');
  for (const name of [orphan, id]) Object.assign(files.contents.get(name) ?? {}, { touchedAtMs: 0 });
  await pass(20_000);
  await service.recordings.sweep();
  t.same([...files.contents.keys()].sort(), [id, young].sort());
});

t.test('a database takes the unclaimed folder of its recordings, in which one file has no row', async (t) => {
  const { open, record, service, files, pass } = await aStudio(t);
  await open();
  const { id } = (await record()).json();
  const orphan = randomUUID();
  await (await files.create(orphan)).append('x');
  Object.assign(files.contents.get(orphan) ?? {}, { touchedAtMs: 0 });
  await pass(20_000);
  await service.recordings.sweep();
  await service.recordings.sweep();
  t.same([...files.contents.keys()], [id]);
});

t.test('another database takes no folder with files that it does not know, however young', async (t) => {
  const { service, files, pass } = await aStudio(t);
  const { installation } = service.ports.storage.repositories;
  const own = await installation.id();
  await service.recordings.sweep();
  const foreign = randomUUID();
  await (await files.create(foreign)).append('x');
  const other = randomUUID();
  installation.id = async () => other;
  await service.recordings.sweep();
  t.equal(await files.owner(), own);
  Object.assign(files.contents.get(foreign) ?? {}, { touchedAtMs: 0 });
  await pass(20_000);
  await service.recordings.sweep();
  t.same([...files.contents.keys()], [foreign]);
});

t.test('another database removes no file that it does not know', async (t) => {
  const { open, record, service, files, pass } = await aStudio(t);
  const { installation } = service.ports.storage.repositories;
  const own = await installation.id();
  await service.recordings.sweep();
  await open();
  const { id } = (await record()).json();
  const foreign = randomUUID();
  await (await files.create(foreign)).append('x');
  for (const file of files.contents.values()) file.touchedAtMs = 0;
  await pass(20_000);
  for (const other of [randomUUID(), randomUUID()]) {
    installation.id = async () => other;
    for (const name of [id, foreign]) Object.assign(files.contents.get(name) ?? {}, { touchedAtMs: 0 });
    await service.recordings.sweep();
    t.same([...files.contents.keys()].sort(), [id, foreign].sort());
    t.equal(await files.owner(), own);
  }
  const kept = files.contents.get(foreign);
  files.contents.delete(foreign);
  await service.recordings.sweep();
  t.not(await files.owner(), own, 'it may take a folder whose files it knows');
  if (kept !== undefined) files.contents.set(foreign, kept);
  await service.recordings.sweep();
  t.same([...files.contents.keys()], [id], 'and removes what has no row there');
});

t.test('a message that a recording is removed counts only when its row is gone', async (t) => {
  const { open, record, service, files } = await aStudio(t);
  await open();
  const { id } = (await record()).json();
  const gone = randomUUID();
  await (await files.create(gone)).append('x');
  for (const each of [id, '../x', gone])
    service.ports.bus.publish('recordings', { kind: 'removed', id: each });
  await waitFor(() => !files.contents.has(gone));
  t.same([...files.contents.keys()], [id]);
});

/** Programs that ignore their end; the first one opens on request. */
async function aSlowStudio(t: Test, { firstWaits }: { firstWaits: boolean }) {
  const programs = fakeTerminals();
  const first = Promise.withResolvers<void>();
  if (!firstWaits) first.resolve();
  let asked = 0;
  const terminalBackend = {
    ...programs,
    async open(...args: Parameters<typeof programs.open>) {
      asked += 1;
      if (asked === 1) await first.promise;
      return { ...(await programs.open(...args)), close: async () => {} };
    },
  };
  const studio = await aStudio(t, { ports: { terminalBackend } });
  return { ...studio, programs, asked: () => asked, letFirst: () => first.resolve() };
}

t.test('a program that opens too late does not affect the recording', async (t) => {
  const { open, asked, letFirst, programs, record, call, cast } = await aSlowStudio(t, { firstWaits: true });
  const late = open().catch((error: unknown) => String(error));
  await waitFor(() => asked() === 1);
  const client = await open({ new: 'true' });
  t.match(await late, /replaced|closed before/);
  const { id } = (await record()).json();
  letFirst();
  await waitFor(() => programs.opened.length === 2);
  programs.opened[0]?.say('this');
  await client.until(() => client.output().toString() === 'this');
  await call('POST', `/api/recordings/${id}/stop`);
  t.equal(shown(await cast(id)), 'this');
});

t.test("output during a program's end is not recorded among the next one's", async (t) => {
  const { open, programs, record, call, cast, service } = await aSlowStudio(t, { firstWaits: false });
  const first = await open();
  const { id } = (await record()).json();
  programs.opened[0]?.say('one');
  await first.until(() => first.output().toString() === 'one');
  first.socket.terminate();
  await waitFor(() => service.terminals.count() === 0);
  const second = await open();
  programs.opened[0]?.say('[lost tty]');
  programs.opened[1]?.say('two');
  await second.until(() => second.output().toString() === 'two');
  await call('POST', `/api/recordings/${id}/stop`);
  t.equal(shown(await cast(id)), 'one\x1bctwo');
});

t.test('a recording without quota for its start ends at once, after its start was announced', async (t) => {
  const { open, pty, service } = await aStudio(t);
  await service.ports.storage.repositories.settings.change({ recordingsMbPerUser: 1 });
  const received: unknown[] = [];
  service.ports.bus.subscribe(
    'recordings',
    ({ on }) => received.push(on),
    () => {},
  );
  const first = await open();
  pty().say('x'.repeat(1_500_000));
  await first.until(() => first.output().length === 1_500_000);
  first.socket.terminate();
  await waitFor(() => service.terminals.count() === 0);
  await open({ record: 'true' });
  await waitFor(() => received.length > 1);
  t.same(received, [true, false]);
});

const SIZE = { cols: 60, rows: 12 };

/** A full screen as drawn by programs: colours, a region, half a character. */
const DRAWN = Buffer.concat([
  Buffer.from(
    `shell$ vim\r\n\x1b[?1049h\x1b[2J\x1b[H\x1b[2;1H${'over the edge '.repeat(5)}\x1b[3;1Hunder\x1b[H\x1b[44;1mTitle\x1b[m\x1b[4;3Hwide 漢字 😀\x1b[6;1H\x1b[31mred `,
  ),
  Buffer.from('é').subarray(0, 1),
]);
const LATER = Buffer.concat([Buffer.from('é').subarray(1), Buffer.from(' still red\x1b[8;1Hend')]);

t.test('a recording that begins late shows what its terminal shows', async (t) => {
  for (const muxed of [true, false]) {
    const { open, pty, record, call, cast } = await aStudio(t, { muxed });
    const client = await open({ cols: 80, rows: 24 });
    client.socket.send(JSON.stringify({ type: 'resize', ...SIZE }));
    client.socket.send(Buffer.from('after the size'));
    await waitFor(() => pty().typed() === 'after the size');
    const all = aBrowserTerminal(SIZE);
    const say = async (output: Buffer): Promise<void> => {
      const before = client.output().length;
      pty().say(output);
      await all.write(output);
      await client.until(() => client.output().length === before + output.length);
    };
    await say(DRAWN);
    const { id } = (await record()).json();
    t.match(castOf(await cast(id)).header, { width: 60, height: 12 });
    await say(LATER);
    await call('POST', `/api/recordings/${id}/stop`);
    const text = await cast(id);
    t.equal(castOf(text).events[0]?.[0], 0, 'from its first moment on');
    const { cursor, type, lines } = (await played(text)).looks();
    const { cursor: at, type: buffer, lines: expected } = all.looks();
    t.same({ cursor, type, lines }, { cursor: at, type: buffer, lines: expected }, `muxed: ${muxed}`);
  }
});

t.test('a multiplexer redraws what the service has dropped of a screen', async (t) => {
  const programs = fakeTerminals();
  let drawnAnew = 0;
  const terminalBackend: typeof programs = {
    ...programs,
    async open(...args) {
      const pty = await programs.open(...args);
      const redraw = async (): Promise<void> => {
        drawnAnew += 1;
        pty.stream.push('\x1b[H\x1b[2Kkept above\x1b[2H\x1b[2K\x1b[3H');
      };
      return { ...pty, redraw };
    },
  };
  const { open, record, call, cast } = await aStudio(t, { ports: { terminalBackend } });
  const pty = () => programs.opened.at(-1) as FakePty;
  const client = await open(SIZE);
  pty().say('kept above\x1b[3;1H');
  await client.until(() => client.output().length > 0);
  t.equal(drawnAnew, 0);
  const first = (await record()).json();
  await call('POST', `/api/recordings/${first.id}/stop`);
  t.equal(drawnAnew, 0, 'nothing was forgotten yet');
  t.same(rowsOf(await played(await cast(first.id))), ['kept above']);

  let sent = client.output().length;
  for (let piece = 0; piece < 36; piece += 1) {
    pty().say('\x1b[3;1Hcount '.padEnd(MIB / 16, '.').concat(`\x1b[3;1H\x1b[J${piece}`));
    sent += MIB / 16;
    await client.until(() => client.output().length >= sent);
  }
  const { id } = (await record()).json();
  await waitFor(async () => rowsOf(await played(await cast(id))).length > 2);
  t.equal(drawnAnew, 1);
  t.same(rowsOf(await played(await cast(id))), ['kept above', '', '35']);
  await call('POST', `/api/recordings/${id}/stop`);
});

t.test('a recording stopped during its snapshot gets nothing more', async (t) => {
  const { open, pty, record, call, cast } = await aStudio(t);
  const client = await open(SIZE);
  pty().say('x'.repeat(MIB));
  await client.until(() => client.output().length === MIB);
  const begun = record();
  await waitFor(async () => (await call('GET', '/api/recordings')).json().recordings.length === 1);
  const [{ id }] = (await call('GET', '/api/recordings')).json().recordings;
  t.match((await call('POST', `/api/recordings/${id}/stop`)).json(), { state: 'ended' });
  t.equal((await begun).statusCode, 201);
  pty().say('later');
  t.notMatch(await cast(id), /later/);
});

t.test('a terminal is recorded by its process, wherever that is requested', async (t) => {
  const { here, there, ada, dbId, backend, open, addresses } = await aCluster(t);
  const far = await open(ada, 'main', addresses[1]);
  const received: string[] = [];
  far.socket.on('message', (data, isBinary) => isBinary || received.push(JSON.parse(String(data)).type));
  backend.opened[0]?.say('before ');
  const record = (at: typeof here) => as(at, ada)('POST', `/api/containers/${dbId}/recordings`, {});
  const { settings } = here.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 0 });
  t.match((await record(here)).json(), { code: 'recording_quota_reached' });
  await settings.change({ recordingsMbPerUser: 512 });
  const begun = await record(here);
  t.equal(begun.statusCode, 201);
  const { id, replica } = begun.json();
  const [terminal] = await there.ports.storage.repositories.terminals.list();
  t.equal(replica, terminal?.replica, 'it is made where the terminal is');
  t.equal((await record(here)).json().id, id, 'and once');
  t.equal((await record(there)).json().id, id);
  await waitFor(() => received.includes('recording'));
  backend.opened[0]?.say('after');
  await waitFor(() => far.output() === 'before after');
  t.match((await as(here, ada)('POST', `/api/recordings/${id}/stop`)).json(), { state: 'ended' });
  const { body } = await as(there, ada)('GET', `/api/recordings/${id}/cast`);
  t.match(shown(body), /^before .*after$/s);
  const { audit } = here.ports.storage.repositories;
  const noted = await audit.page({ userId: ada.id, action: 'recording_started' }, { limit: 10, after: null });
  t.equal(noted.items.length, 1, 'on record once');
  far.socket.close(1000);
  const { terminals } = here.ports.storage.repositories;
  await waitFor(async () => (await terminals.list()).length === 0);
  t.match((await record(here)).json(), { code: 'terminal_not_open' });
});
