import { Duplex } from 'node:stream';
import t from 'tap';
import { ptyTerminal } from '../../../src/app/terminals/output/pty-terminal.ts';
import { readScheduler } from '../../../src/app/terminals/output/read-scheduler.ts';
import { waitFor } from '../../support/patience.ts';

/** A terminal whose program reads nothing until `read` is called. */
function aStalledTerminal() {
  const taken: (() => void)[] = [];
  let isRead = false;
  const stream = new Duplex({
    read() {},
    write: (_chunk, _encoding, done) => void (isRead ? done() : taken.push(done)),
  });
  const terminal = ptyTerminal(
    'one',
    {
      stream,
      write: (input, done) => void stream.write(input, (error) => error ?? done?.()),
      muxSession: null,
      resize: async () => {},
      redraw: async () => {},
      requestScrollback: async () => ({ program: 'shell', snapshot: null }),
      ending: async () => ({ kind: 'lost' }),
      close: async () => {},
    },
    () => {},
    readScheduler(() => performance.now()),
  );
  const read = (): void => {
    isRead = true;
    for (const done of taken) done();
  };
  return { terminal, stream, read };
}

for (const bytes of [0, 1]) {
  t.test(
    `frames of ${bytes} bytes for a stalled program stop their sender before they fill the memory`,
    async (t) => {
      const { terminal, stream, read } = aStalledTerminal();
      let acknowledged = 0;
      let sent = 1;
      while (terminal.write(Buffer.alloc(bytes, 'x'), () => (acknowledged += 1)) && sent < 100_000) sent += 1;
      t.ok(sent < 20_000, `${sent} frames`);
      let goesOn = false;
      terminal.onDrain(() => {
        goesOn = true;
      });
      t.notOk(goesOn);
      read();
      await waitFor(() => goesOn && acknowledged === sent);
      stream.destroy();
    },
  );
}

t.test('input of a terminal that closes keeps no sender waiting', async () => {
  const { terminal, stream } = aStalledTerminal();
  while (terminal.write(Buffer.alloc(65_536), () => {}));
  let goesOn = false;
  terminal.onDrain(() => {
    goesOn = true;
  });
  stream.destroy();
  await waitFor(() => goesOn);
});
