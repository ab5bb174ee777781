import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { aStudio, castOf, played, rowsOf } from '../support/terminal/recordings.ts';
import { aBrowserTerminal } from '../support/terminal/screens.ts';
import { type FakePty, fakeTerminals } from '../support/terminal/terminals.ts';

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
  for (let piece = 0; piece < 50; piece += 1) {
    pty().say('\x1b[3;1Hcount '.padEnd(MIB / 16, '.').concat(`\x1b[3;1H\x1b[J${piece}`));
    sent += MIB / 16;
    await client.until(() => client.output().length >= sent);
  }
  const { id } = (await record()).json();
  await waitFor(async () => rowsOf(await played(await cast(id))).length > 2);
  t.equal(drawnAnew, 1);
  t.same(rowsOf(await played(await cast(id))), ['kept above', '', '49']);
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
