import { once } from 'node:events';
import t from 'tap';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import type { PtyStream, TerminalBackend, TerminalRequest } from '../../src/ports/terminal-backend.ts';

export type OpenTerminals = { readonly terminals: TerminalBackend; readonly handle: RuntimeHandle };

/** A request for a session of this name; the marker is the name's own. */
export const aTerminal = (muxSession: string, given: Partial<TerminalRequest> = {}): TerminalRequest => ({
  cols: 80,
  rows: 24,
  muxSession,
  forceNew: false,
  marker: `marker-${muxSession}-${Math.random().toString(36).slice(2)}`,
  shell: '/bin/bash',
  ...given,
});

/** Reads a terminal; `until` waits for text that has come since the last wait. */
export function reader(pty: PtyStream): {
  until(text: string | RegExp, seconds?: number): Promise<string>;
  all(): string;
} {
  let seen = '';
  let from = 0;
  pty.stream.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
  });
  return {
    all: () => seen,
    async until(text, seconds = 10) {
      const end = Date.now() + seconds * 1000;
      const holds = (part: string): boolean =>
        typeof text === 'string' ? part.includes(text) : text.test(part);
      while (!holds(seen.slice(from))) {
        if (Date.now() > end) throw new Error(`no ${String(text)} in ${JSON.stringify(seen.slice(from))}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const part = seen.slice(from);
      from = seen.length;
      return part;
    },
  };
}

/** What every place that opens terminals must do; the container runs. */
export async function terminalBackendContract(
  name: string,
  { terminals, handle }: OpenTerminals,
): Promise<void> {
  await t.test(`${name}: TerminalBackend`, async (t) => {
    await t.test(
      'what is typed is shown, and the end of the shell ends the stream with its code',
      async (t) => {
        const pty = await terminals.open(handle, aTerminal('typed'));
        const output = reader(pty);
        t.equal(pty.muxSession, 'typed');
        pty.stream.write('echo typed-text');
        await output.until('typed-text');
        await pty.resize(120, 40);
        pty.stream.write('\rexit\r');
        await once(pty.stream, 'close');
        t.equal(await pty.exitCode(), 0);
        await t.resolves(pty.resize(10, 10), 'a resize after the end is harmless');
        await t.resolves(pty.close(), 'a close after the end is harmless');
      },
    );

    await t.test('a session goes on when its terminal is closed, and is shown again', async (t) => {
      const first = await terminals.open(handle, aTerminal('lasting'));
      const shown = reader(first);
      first.stream.write('still-here');
      await shown.until('still-here');
      await Promise.all([first.close(), first.close()]);
      t.ok(first.stream.destroyed);
      const second = await terminals.open(handle, aTerminal('lasting'));
      await reader(second).until('still-here');
      await second.close();
    });

    await t.test('two terminals of one session see the same', async (t) => {
      const both = await Promise.all([1, 2].map(() => terminals.open(handle, aTerminal('shared'))));
      const readers = both.map(reader);
      both[0]?.stream.write('seen-by-both');
      await Promise.all(readers.map((each) => each.until('seen-by-both')));
      await terminals.killMuxSession(handle, 'shared');
      await Promise.all(both.map((pty) => pty.stream.closed || once(pty.stream, 'close')));
      t.pass('ending the session ends both');
    });

    await t.test('a forced new session starts afresh', async (t) => {
      const first = await terminals.open(handle, aTerminal('forced'));
      const before = reader(first);
      first.stream.write('old-text');
      await before.until('old-text');
      const second = await terminals.open(handle, aTerminal('forced', { forceNew: true }));
      const after = reader(second);
      second.stream.write('new-text');
      await after.until('new-text');
      t.notMatch(after.all(), /old-text/);
      if (!first.stream.closed) await once(first.stream, 'close');
      await terminals.killMuxSession(handle, 'forced');
    });

    await t.test('ending an absent session is success', async (t) => {
      await t.resolves(terminals.killMuxSession(handle, 'never-was'));
    });
  });
}
