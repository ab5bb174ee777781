import t from 'tap';
import { aTerminal, reader } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../../../support/engine/engine.ts';
import { waitFor } from '../../../support/patience.ts';

/** What engine and kernel take of a program whose reader is paused, so that it can end. */
const LAST_BYTES = 100_000;
const LAST = `exec sh -c 'head -c ${LAST_BYTES} /dev/zero | tr "\\0" x; exit 7'`;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const { runtime, terminals, commands, image } = await testInstance(t, engine);
  await t.test('a program that ends while its terminal is paused loses no output', async (t) => {
    const handle = await runtime.create(aSpec(image));
    await runtime.start(handle);
    await runIn(commands, handle, ['rm', '/usr/bin/tmux']);
    const pty = await terminals.open(handle, aTerminal('main'));
    const output = reader(pty);
    await output.until('# ');
    pty.write('stty -echo; echo begins-$((6*7))\r');
    await output.until(/begins-42[^$]*# /);
    pty.stream.pause();
    pty.write(`${LAST}\r`);
    await waitFor(() => pty.stream.readableLength >= LAST_BYTES, { what: 'the output to be read' });
    const before = output.all().length;
    pty.stream.resume();
    t.same(await pty.ending(), { kind: 'exited', code: 7 });
    t.equal(output.all().slice(before).replace(/[^x]/g, '').length, LAST_BYTES);
  });
}
