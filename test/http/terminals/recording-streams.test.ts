import t, { type Test } from 'tap';
import { waitFor } from '../../support/patience.ts';
import { aCluster } from '../../support/service/cluster.ts';
import { as } from '../../support/service/service.ts';
import { aStudio, castOf, played, rowsOf, shown } from '../../support/terminal/recordings.ts';
import { aBrowserTerminal } from '../../support/terminal/screens.ts';
import { type FakePty, fakeTerminals } from '../../support/terminal/terminals.ts';

/** Programs that go on after they were told to end; the first one opens only when the test says so. */
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

t.test('a program that opens too late takes no recording with it', async (t) => {
  const { open, asked, letFirst, programs, record, call, cast } = await aSlowStudio(t, {
    firstWaits: true,
  });
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

t.test('what a program says while it ends is not recorded between what the next one shows', async (t) => {
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

t.test('a recording that has no room for what is held is told to have ended last', async (t) => {
  const { open, pty, service } = await aStudio(t);
  await service.ports.storage.repositories.settings.change({ recordingsMbPerUser: 1 });
  const told: unknown[] = [];
  service.ports.bus.subscribe(
    'recordings',
    ({ on }) => told.push(on),
    () => {},
  );
  const first = await open();
  pty().say('x'.repeat(1_500_000));
  await first.until(() => first.output().length === 1_500_000);
  first.socket.terminate();
  await waitFor(() => service.terminals.count() === 0);
  await open({ record: 'true' });
  t.same(told, [true, false]);
});

const MIB = 1_048_576;
const SIZE = { cols: 60, rows: 12 };

/** A full screen as programs draw it: colours, a region, a half of a character to come. */
const DRAWN = Buffer.concat([
  Buffer.from(
    'shell$ vim\r\n\x1b[?1049h\x1b[2J\x1b[H\x1b[44;1mTitle\x1b[m\x1b[4;3Hwide 漢字 😀\x1b[6;1H\x1b[31mred ',
  ),
  Buffer.from('é').subarray(0, 1),
]);
const LATER = Buffer.concat([Buffer.from('é').subarray(1), Buffer.from(' still red\x1b[8;1Hend')]);

t.test('a recording that begins late shows what its terminal shows', async (t) => {
  for (const muxed of [true, false]) {
    const { open, pty, record, call, cast } = await aStudio(t, { muxed });
    const client = await open(SIZE);
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

t.test('what the service has forgotten of a screen its multiplexer draws once more', async (t) => {
  const programs = fakeTerminals();
  let drawnAnew = 0;
  const terminalBackend: typeof programs = {
    ...programs,
    async open(...args) {
      const pty = await programs.open(...args);
      const drawAnew = async (): Promise<void> => {
        drawnAnew += 1;
        pty.stream.push('\x1b[H\x1b[2Kkept above\x1b[2H\x1b[2K\x1b[3H');
      };
      return { ...pty, drawAnew };
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

t.test('a recording that is stopped while its picture is made has no more in it', async (t) => {
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

t.test('a terminal is recorded by the process that has it, wherever that is asked for', async (t) => {
  const { here, there, ada, dbId, backend, open, addresses } = await aCluster(t);
  const far = await open(ada, 'main', addresses[1]);
  const told: string[] = [];
  far.socket.on('message', (data, isBinary) => isBinary || told.push(JSON.parse(String(data)).type));
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
  await waitFor(() => told.includes('recording'));
  backend.opened[0]?.say('after');
  await waitFor(() => far.output() === 'before after');
  const stopped = await as(here, ada)('POST', `/api/recordings/${id}/stop`);
  t.match(stopped.json(), { state: 'ended' });
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
