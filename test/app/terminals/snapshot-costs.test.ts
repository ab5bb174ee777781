import { Duplex } from 'node:stream';
import t from 'tap';
import { xtermScreens } from '../../../src/adapters/xterm/headless-terminals.ts';
import { ptyTerminal } from '../../../src/app/terminals/output/pty-terminal.ts';
import { readScheduler } from '../../../src/app/terminals/output/read-scheduler.ts';
import { waitFor } from '../../support/patience.ts';

const SIZE = { cols: 80, rows: 24 };

/** A terminal that counts the screens opened to draw it. */
function aCountedTerminal({ muxed = false, size = SIZE } = {}) {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  let opened = 0;
  let redraws = 0;
  const screens = {
    open(size: typeof SIZE) {
      opened += 1;
      return xtermScreens.open(size);
    },
  };
  const program = {
    stream,
    write: (_input: Buffer, done?: () => void) => done?.(),
    muxSession: muxed ? 'main' : null,
    resize: async () => {},
    redraw: async () => {
      redraws += 1;
    },
    requestScrollback: async () => ({ program: 'shell', snapshot: null }) as const,
    ending: async () => ({ kind: 'lost' }) as const,
    close: async () => {},
  };
  const scheduler = readScheduler(() => performance.now());
  const terminal = ptyTerminal('one', program, () => {}, scheduler, { screens, size });
  const say = async (output: string): Promise<void> => {
    const end = terminal.bufferedRange().end + Buffer.byteLength(output);
    stream.push(output);
    await waitFor(() => {
      terminal.confirm(terminal.bufferedRange().end);
      return terminal.bufferedRange().end === end;
    });
  };
  return { terminal, say, opened: () => opened, redraws: () => redraws };
}

t.test('output that was too expensive for a recording is not drawn for the next', async (t) => {
  for (const muxed of [true, false]) {
    const { terminal, say, opened } = aCountedTerminal({ muxed, size: { cols: 1_000, rows: 1_000 } });
    await say('on a screen that is too large');
    t.equal(await terminal.recordingSnapshot(), null);
    t.equal(await terminal.recordingSnapshot(), null);
    t.equal(opened(), 1, muxed ? 'with a multiplexer' : 'without');
    await terminal.end();
  }
});

t.test('a screen with much output is not drawn again for each reload', async (t) => {
  const { terminal, say, opened } = aCountedTerminal();
  await say('little\r\n');
  t.match((await terminal.clientSnapshot())?.bytes.toString(), /little/);
  await say('much output\r\n'.repeat(60_000));
  t.match((await terminal.clientSnapshot())?.bytes.toString(), /much/);
  await say('later\r\n');
  t.match((await terminal.clientSnapshot())?.bytes.toString(), /later/);
  t.equal(opened(), 2);
  await terminal.end();
});

t.test('a client that returns to a multiplexer after much output gets its modes, and a redraw', async (t) => {
  const { terminal, say, redraws } = aCountedTerminal({ muxed: true });
  await say('\x1b[?1049h\x1b[?1002htmux');
  t.equal(await terminal.clientSnapshot(), null, 'as long as all output is there');
  await say('some output \x1b[6n\r\n'.repeat(150_000));
  for (let times = 1; times <= 2; times += 1) {
    const snapshot = await terminal.clientSnapshot();
    t.ok(snapshot?.bytes.subarray(0, 100).includes('\x1b[?1049h\x1b[?1002h'));
    t.equal(snapshot?.bytes.includes('\x1b[6n'), false, 'no query is repeated');
    t.equal(snapshot?.offset, terminal.bufferedRange().end);
    t.equal(redraws(), times);
  }
  await terminal.end();
});
