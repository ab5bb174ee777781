import { once } from 'node:events';
import t from 'tap';
import { ShellStream } from '../../../src/adapters/agents/shell-stream.ts';
import { WINDOW_BYTES } from '../../../src/protocol/agent/limits.ts';
import { session, shellRequest } from '../../support/agent/lines.ts';

const PIECE = Buffer.alloc(4_096, 'x');

/** A shell's stream, and its agent's channel. */
function aShell() {
  const both = session();
  const stream = new ShellStream();
  const opened = both.open(
    shellRequest(),
    stream.handlers(
      () => {},
      () => {},
    ),
  );
  stream.uses(opened.service);
  both.settle();
  return { stream, channel: opened.agent(), settle: both.settle };
}

t.test('output that waits is read in few large pieces, whatever it came in', async (t) => {
  const { stream, channel, settle } = aShell();
  while (channel.room > 0) {
    channel.write(PIECE);
    settle();
  }
  const sizes: number[] = [];
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    sizes.push(chunk.length);
  });
  channel.finish({ type: 'shell', exit_code: 0, signal: null });
  settle();
  await once(stream, 'end');
  t.equal(received, WINDOW_BYTES.shell);
  t.ok(sizes.length <= 6, `${sizes.length} reads: ${sizes}`);
  t.ok(Math.max(...sizes) <= 65_536);
});

t.test('only what is read gives credit', async (t) => {
  const { stream, channel, settle } = aShell();
  while (channel.write(PIECE) > 0) settle();
  settle();
  t.equal(channel.room, 0, 'nobody reads');
  stream.once('data', () => stream.pause());
  await once(stream, 'pause');
  settle();
  t.ok(channel.room > 0 && channel.room < WINDOW_BYTES.shell, `${channel.room} bytes of credit`);
  stream.destroy();
});
