import { once } from 'node:events';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import t from 'tap';
import { memoryRecordingFiles } from '../../../src/adapters/memory/terminals/recording-files.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, as, type Person } from '../../support/service/service.ts';
import { aStudio, castOf, played, rowsOf, shown } from '../../support/terminal/recordings.ts';
import { type TerminalClient, terminalClient } from '../../support/terminal/terminal-client.ts';

const NOBODY = '99999999-9999-4999-8999-999999999999';

t.test('output is recorded from start to stop, and input is not', async (t) => {
  const { open, pty, record, call, cast, pass, dbId } = await aStudio(t);
  const client = await open({ cols: 100, rows: 30 });
  pty().say('before ');
  await client.until(() => client.output().length === 7);
  const begun = await record();
  t.equal(begun.statusCode, 201);
  const made = begun.json();
  t.match(made, {
    container_id: dbId,
    container_name: 'dev',
    connection_id: 'main',
    state: 'recording',
    cols: 100,
    rows: 30,
    ended_at: null,
  });
  t.equal((await record()).json().id, made.id, 'it goes on, and is not begun twice');
  await client.until(() => client.messages.some(({ type }) => type === 'recording'));
  t.match(
    client.messages.filter(({ type }) => type === 'recording' || type === 'notice'),
    [
      { type: 'recording', on: true, id: made.id },
      { type: 'notice', message: 'This terminal is being recorded.' },
    ],
  );

  await pass(1_500);
  const ship = Buffer.from('🚢');
  client.socket.send(Buffer.from('secret'), { binary: true });
  await waitFor(() => pty().typed() === 'secret');
  pty().say(Buffer.concat([Buffer.from('pass'), ship.subarray(0, 2)]));
  pty().say(ship.subarray(2));
  await client.until(() => client.output().toString().endsWith('🚢'));
  await pass(500);
  client.socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }));
  client.socket.send(JSON.stringify({ type: 'ping', t: 1 }));
  await client.until(() => client.messages.some(({ type }) => type === 'pong'));
  const stopped = (await call('POST', `/api/recordings/${made.id}/stop`)).json();
  t.match(stopped, { id: made.id, state: 'ended', duration_ms: 2000, ended_at: String });
  t.match(
    (await call('POST', `/api/recordings/${made.id}/stop`)).json(),
    stopped,
    'stopping again is no fault',
  );
  await client.until(() => client.messages.some(({ type, on }) => type === 'recording' && on === false));

  pty().say('after');
  const text = await cast(made.id);
  t.equal(Buffer.byteLength(text), stopped.size_bytes);
  t.match(castOf(text).header, { version: 2, width: 100, height: 30 });
  t.same(
    castOf(text).events.filter(([, kind]) => kind === 'r'),
    [[2, 'r', '120x40']],
  );
  const [snapshot, ...later] = castOf(text).events.filter(([, kind]) => kind === 'o');
  t.equal(snapshot?.[0], 0, 'it begins with what was on the screen');
  t.match(snapshot?.[2], /^before /);
  t.equal(later.map(([, , data]) => data).join(''), 'pass🚢', 'a character that came in two parts is whole');
  t.same(rowsOf(await played(text)), ['before pass🚢']);
});

t.test('`record=true` records from the first byte', async (t) => {
  const { open, pty, call, cast, files } = await aStudio(t);
  const client = await open({ record: 'true' });
  pty().say('$ ');
  await client.until(() => client.output().length === 2 && client.messages.length > 2);
  t.match(client.messages, [{ type: 'ready' }, { type: 'recording', on: true }, { type: 'notice' }]);
  const [one] = (await call('GET', '/api/recordings')).json().recordings;
  t.match(one, { state: 'recording' });
  // Output is in an active recording's file soon.
  await waitFor(() => files.contents.get(one.id)?.bytes.includes('$ ') ?? false);
  t.equal(shown(await cast(one.id)), '$ ');
  client.socket.close(1000);
});

for (const muxed of [true, false]) {
  const image = muxed ? 'with tmux' : 'without tmux';
  t.test(`a recording follows its terminal over a lost connection, and ends with it: ${image}`, async (t) => {
    const { open, pty, record, call, cast, service, dbId } = await aStudio(t, { muxed });
    const first = await open();
    const { id } = (await record()).json();
    const state = async () => (await call('GET', `/api/recordings/${id}`)).json().state;
    pty().say('one ');
    await first.until(() => first.output().length === 4);
    first.socket.terminate();
    await waitFor(() => service.terminals.count() === 0);
    if (!muxed) pty().say('meanwhile ');
    const second = await open();
    await second.until(() => second.messages.some(({ type }) => type === 'recording'));
    pty().say('two');
    await second.until(() => second.output().toString().endsWith('two'));
    t.equal(await state(), 'recording');
    if (muxed) second.socket.close(1000);
    else await call('POST', `/api/containers/${dbId}/stop`);
    await waitFor(async () => (await state()) === 'ended');
    t.equal(shown(await cast(id)), muxed ? 'one \x1bctwo' : 'one meanwhile two');
  });
}

t.test('only an open terminal can be recorded', async (t) => {
  const { open, record } = await aStudio(t);
  t.match((await record()).json(), { code: 'terminal_not_open' });
  await open();
  t.match((await record({ connection_id: 'other' })).json(), { code: 'terminal_not_open' });
  t.match((await record({ connection_id: '../x' })).json(), { code: 'validation_failed' });
});

t.test('a download of a recording is cut off when the screen is locked', async (t) => {
  const files = memoryRecordingFiles();
  const content = new Readable({ read() {} });
  const read: typeof files.read = async () => ({ content, sizeBytes: 2 });
  const ports = { recordingFiles: { ...files, read } };
  const { open, record, call, address, ada } = await aStudio(t, { ports });
  await open();
  const { id } = (await record()).json();
  const headers = { authorization: `Bearer ${ada.token}` };
  content.push('x');
  const request = get(`${address.replace('ws', 'http')}/api/recordings/${id}/cast`, { headers });
  t.teardown(() => request.destroy());
  const [answer] = await once(request, 'response');
  answer.resume().on('error', () => {});
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('POST', '/api/sessions/lock');
  await waitFor(() => answer.destroyed, { what: 'it is cut off' });
  t.notOk(answer.complete);
});

t.test('the list is paged, newest first, of one container on request', async (t) => {
  const { open, record, call, dbId } = await aStudio(t);
  const ids: string[] = [];
  for (const pane of ['main', 'a', 'b']) {
    await open({ connection_id: pane });
    ids.unshift((await record({ connection_id: pane })).json().id);
  }
  const list = async (query: string) => {
    const { recordings, ...page } = (await call('GET', `/api/recordings?${query}`)).json();
    return { ...page, ids: recordings?.map(({ id }: { id: string }) => id) };
  };
  t.same((await list('limit=2')).ids, ids.slice(0, 2));
  t.same((await list(`container=${dbId}`)).ids, ids);
  for (const other of [NOBODY, 'x']) t.same((await list(`container=${other}`)).ids, []);
});

t.test('a download has its type, is no page, and is complete', async (t) => {
  const { open, record, call, pty, dbId } = await aStudio(t);
  await open();
  const { id } = (await record()).json();
  pty().say('<script>alert(1)</script>');
  await call('POST', `/api/recordings/${id}/stop`);
  await call('PATCH', `/api/containers/${dbId}`, { name: 'a-b.c' });
  const answer = await call('GET', `/api/recordings/${id}/cast`);
  t.equal(answer.statusCode, 200);
  t.match(answer.headers, {
    'content-type': 'application/x-asciicast',
    'content-disposition': 'attachment; filename=dev-2026-01-01-00-00-00.cast',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(answer.body)),
  });
  t.match(answer.headers['content-security-policy'], /default-src 'none'/);
});

t.test('a deleted recording is gone with its file, even an active one; the audit keeps it', async (t) => {
  const { open, record, call, files, pty, dbId } = await aStudio(t);
  const client = await open();
  const { id } = (await record()).json();
  pty().say('x');
  t.same((await call('DELETE', `/api/recordings/${id}`)).json(), { id, deleted: true });
  t.equal(files.contents.size, 0);
  t.equal((await call('GET', `/api/recordings/${id}`)).statusCode, 404);
  t.equal((await call('DELETE', `/api/recordings/${id}`)).statusCode, 404);
  await client.until(() => client.messages.some(({ type, on }) => type === 'recording' && on === false));
  t.equal(client.socket.readyState, client.socket.OPEN, 'its terminal goes on');
  const records = (await call('GET', '/api/audit')).json().records;
  const about = records.filter(({ action }: { action: string }) => action.startsWith('recording_'));
  const details = JSON.stringify({ id, container_id: dbId, connection_id: 'main' });
  t.match(about, [
    { action: 'recording_deleted', details },
    { action: 'recording_started', details },
  ]);
});

t.test('all viewers are notified, also later ones, and cannot record', async (t) => {
  const { open, record, call, service, address, dbId } = await aStudio(t, { muxed: true });
  const [bob, eve] = [await aPerson(service, 'bob'), await aPerson(service, 'eve')];
  const shared = (await call('POST', `/api/containers/${dbId}/collaborations`, { mode: 'view' })).json();
  for (const who of [bob, eve]) {
    await as(service, who)('POST', '/api/collaborations/join', { code: shared.code });
  }
  await open();
  const openTerminal = (who: Person) => terminalClient({ address, dbId, token: who.token });
  const received = ({ messages }: TerminalClient) => messages.find(({ type }) => type === 'recording');
  const before = await openTerminal(bob);
  t.equal(received(before), undefined);
  const { id } = (await record()).json();
  await before.until(() => received(before) !== undefined);
  t.match(received(before), { on: true, id });
  const later = await openTerminal(eve);
  await later.until(() => received(later) !== undefined);
  t.match(received(later), { on: true, id });

  const begun = await as(service, bob)('POST', `/api/containers/${dbId}/recordings`, {});
  t.match([begun.statusCode, begun.json()], [403, { code: 'not_authorized' }], 'the owner decides');
  t.equal((await as(service, bob)('GET', `/api/recordings/${id}/cast`)).statusCode, 404);
  const asked = as(service, bob)('GET', `/api/containers/${dbId}/terminal?record=true`);
  t.match((await asked).json(), { code: 'validation_failed', fields: { record: String } });
});

t.test('recordings stay when their container is deleted', async (t) => {
  const { open, record, call, cast, pty, dbId } = await aStudio(t);
  const client = await open();
  const { id } = (await record()).json();
  pty().say('kept');
  await client.until(() => client.output().length === 4);
  await call('DELETE', `/api/containers/${dbId}`);
  await waitFor(async () => (await call('GET', `/api/recordings/${id}`)).json().state === 'ended');
  t.equal(shown(await cast(id)), 'kept');
});

t.test('a recording that ends during a progress note does not affect a later one', async (t) => {
  const { open, record, call, pass, service } = await aStudio(t);
  await open();
  const first = (await record()).json().id;
  const { recordings } = service.ports.storage.repositories;
  const { progress } = recordings;
  let second = '';
  recordings.progress = async (...asked) => {
    recordings.progress = progress;
    await call('POST', `/api/recordings/${first}/stop`);
    second = (await record()).json().id;
    return await progress(...asked);
  };
  await pass(20_000);
  const state = async (id: string) => (await call('GET', `/api/recordings/${id}`)).json().state;
  t.not(second, first);
  t.same([await state(first), await state(second)], ['ended', 'recording']);
});
