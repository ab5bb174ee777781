import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import t, { type Test } from 'tap';
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import type {
  PtyStream,
  TerminalBackend,
  TerminalRequest,
} from '../../../src/ports/terminals/terminal-backend.ts';
import { waitFor } from '../../support/patience.ts';

export type OpenTerminals = { readonly terminals: TerminalBackend; readonly handle: RuntimeHandle };

/** A request for a session of this name, with its own marker. */
export const aTerminal = (muxSession: string, given: Partial<TerminalRequest> = {}): TerminalRequest => ({
  cols: 80,
  rows: 24,
  muxSession,
  forceNew: false,
  marker: `marker-${muxSession}-${Math.random().toString(36).slice(2)}`,
  shell: '/bin/bash',
  ...given,
});

/** Reads a terminal; `until` waits for text after the last wait. */
export function reader(pty: PtyStream): {
  until(text: string | RegExp, seconds?: number): Promise<string>;
  all(): string;
} {
  let seen = '';
  let from = 0;
  // A read may end within a character.
  const decoder = new StringDecoder('utf8');
  pty.stream.on('data', (chunk: Buffer) => {
    seen += decoder.write(chunk);
  });
  return {
    all: () => seen,
    async until(text, seconds = 30) {
      const holds = (part: string): boolean =>
        typeof text === 'string' ? part.includes(text) : text.test(part);
      const what = (): string => `${String(text)} in ${JSON.stringify(seen.slice(from))}`;
      await waitFor(() => holds(seen.slice(from)), { patienceMs: seconds * 1_000, what });
      const part = seen.slice(from);
      from = seen.length;
      return part;
    },
  };
}

/** Guarantees of terminals, by a multiplexer or without one. */
export async function anyTerminalContract(t: Test, { terminals, handle }: OpenTerminals): Promise<void> {
  await t.test("input is echoed, and the shell's exit ends the stream with its code", async (t) => {
    const pty = await terminals.open(handle, aTerminal('typed'));
    const output = reader(pty);
    await new Promise<void>((resolve) => pty.write('echo typed-text', resolve));
    await output.until('typed-text');
    await pty.resize(120, 40);
    pty.write('\rexit\r');
    await once(pty.stream, 'close');
    t.same(await pty.ending(), { kind: 'exited', code: 0 });
    await t.resolves(pty.resize(10, 10), 'a resize after the end is harmless');
    await t.resolves(pty.close(), 'a close after the end is harmless');
  });

  await t.test('two terminals of one session show the same', async (t) => {
    const both = await Promise.all([1, 2].map(() => terminals.open(handle, aTerminal('shared'))));
    const readers = both.map(reader);
    both[0]?.write('seen-by-both');
    await Promise.all(readers.map((each) => each.until('seen-by-both')));
    await terminals.killMuxSession(handle, 'shared');
    await Promise.all(both.map((pty) => pty.stream.closed || once(pty.stream, 'close')));
    t.pass('ending the session ends both');
  });

  await t.test('a session wanted after all survives', async (t) => {
    const pty = await terminals.open(handle, aTerminal('wanted'));
    const shown = reader(pty);
    await terminals.killMuxSession(handle, 'wanted', async () => true);
    pty.write('goes-on');
    await shown.until('goes-on');
    await terminals.killMuxSession(handle, 'wanted', async () => false);
    if (!pty.stream.closed) await once(pty.stream, 'close');
    t.pass('and ends when it is not');
  });

  await t.test('a forced new session starts with an empty shell', async (t) => {
    const first = await terminals.open(handle, aTerminal('forced'));
    const before = reader(first);
    first.write('old-text');
    await before.until('old-text');
    const second = await terminals.open(handle, aTerminal('forced', { forceNew: true }));
    const after = reader(second);
    second.write('new-text');
    await after.until('new-text');
    t.notMatch(after.all(), /old-text/);
    if (!first.stream.closed) await once(first.stream, 'close');
    await terminals.killMuxSession(handle, 'forced');
  });

  await t.test('a viewer sees the session and types nothing', async (t) => {
    t.equal(await terminals.hasMultiplexer(handle), true);
    const owner = await terminals.open(handle, aTerminal('shown'));
    const shown = reader(owner);
    owner.write('first');
    await shown.until('first');
    const guest = await terminals.open(handle, aTerminal('shown', { sharedAs: { mode: 'view' } }));
    t.equal(guest.muxSession, owner.muxSession);
    const seen = reader(guest);
    await seen.until('first');
    guest.write('not-heard');
    owner.write('-second');
    await Promise.all([seen.until('second'), shown.until('second')]);
    t.notMatch(shown.all() + seen.all(), /not-heard/);
    await guest.close();
    owner.write('-third');
    await shown.until('third');
    await terminals.killMuxSession(handle, 'shown');
  });

  await t.test('a forced new session leaves guests nothing of the old one', async () => {
    const sharedAs = { mode: 'control', session: 'user-2' } as const;
    const guest = await terminals.open(handle, aTerminal('renewed', { sharedAs }));
    guest.stream.resume();
    const over = once(guest.stream, 'close');
    const owner = await terminals.open(handle, aTerminal('renewed', { forceNew: true }));
    owner.stream.resume();
    await over;
    await terminals.killMuxSession(handle, 'renewed');
  });

  await t.test('ending an absent session succeeds', async (t) => {
    await t.resolves(terminals.killMuxSession(handle, 'never-was'));
  });
}

/** The same, and those of sessions in a multiplexer, which outlive their terminals. */
export async function terminalBackendContract(
  name: string,
  { terminals, handle }: OpenTerminals,
): Promise<void> {
  await t.test(`${name}: TerminalBackend`, async (t) => {
    await anyTerminalContract(t, { terminals, handle });

    await t.test('a session survives its terminal, and is shown again', async (t) => {
      const first = await terminals.open(handle, aTerminal('lasting'));
      t.equal(first.muxSession, 'lasting');
      const shown = reader(first);
      first.write('still-here');
      await shown.until('still-here');
      await Promise.all([first.close(), first.close()]);
      t.ok(first.stream.destroyed);
      const second = await terminals.open(handle, aTerminal('lasting'));
      await reader(second).until('still-here');
      await second.close();
    });

    await t.test('a terminal starts nothing before, and nothing without, what it waits for', async (t) => {
      const { promise: startAfter, resolve } = Promise.withResolvers<void>();
      const opening = terminals.open(handle, aTerminal('late', { startAfter }));
      t.notOk((await terminals.leftovers(handle)).sessions.includes('late'));
      resolve();
      await (await opening).close();
      const fails = Promise.reject(new Error('not on record'));
      fails.catch(() => {});
      const never = aTerminal('never', { startAfter: fails });
      await t.rejects(terminals.open(handle, never), /not on record/);
      const { sessions } = await terminals.leftovers(handle);
      t.ok(sessions.includes('late') && !sessions.includes('never'), `${sessions}`);
      await terminals.killMuxSession(handle, 'late');
    });

    await t.test('a terminal names its session once its program has started', async (t) => {
      const named: (string | null)[] = [];
      const onStarted = (muxSession: string | null): void => void named.push(muxSession);
      const pty = await terminals.open(handle, aTerminal('named', { onStarted }));
      t.same(named, ['named']);
      t.equal(pty.muxSession, 'named');
      await pty.close();
      await terminals.killMuxSession(handle, 'named');
    });

    await t.test('leftovers are listed, and ended by their marker', async (t) => {
      const [kept, lost] = [randomUUID(), randomUUID()];
      const first = await terminals.open(handle, aTerminal('left', { marker: kept }));
      const second = await terminals.open(handle, aTerminal('left', { marker: lost }));
      await Promise.all([first, second].map((pty) => reader(pty).until(/\$ |# /)));
      const before = await terminals.leftovers(handle);
      t.ok(before.sessions.includes('left'));
      t.same(
        [kept, lost].map((mark) => before.marks.includes(mark)),
        [true, true],
      );
      await terminals.endMarked(handle, lost);
      if (!second.stream.closed) await once(second.stream, 'close');
      t.same(await second.ending(), { kind: 'lost' }, 'that is no end of the program');
      const after = await terminals.leftovers(handle);
      t.ok(after.sessions.includes('left'), 'the session goes on');
      t.same(
        [kept, lost].map((mark) => after.marks.includes(mark)),
        [true, false],
      );
      await t.resolves(terminals.endMarked(handle, lost), 'again');
      await terminals.killMuxSession(handle, 'left');
      if (!first.stream.closed) await once(first.stream, 'close');
      t.match(await first.ending(), { kind: 'exited' });
      t.notOk((await terminals.leftovers(handle)).sessions.includes('left'));
    });

    await t.test('a participant in control has a grouped session that ends alone', async (t) => {
      const sharedAs = { mode: 'control', session: 'user-1' } as const;
      const guest = await terminals.open(handle, aTerminal('typed-along', { sharedAs }));
      t.equal(guest.muxSession, 'user-1', 'also when the owner is not there yet');
      const seen = reader(guest);
      const owner = await terminals.open(handle, aTerminal('typed-along'));
      const shown = reader(owner);
      guest.write('echo of-the-guest');
      await Promise.all([seen.until('of-the-guest'), shown.until('of-the-guest')]);
      owner.write('-and-owner');
      await Promise.all([seen.until('and-owner'), shown.until('and-owner')]);
      const over = once(guest.stream, 'close');
      await terminals.killMuxSession(handle, 'user-1');
      await over;
      owner.write('-alone');
      await shown.until('alone');
      await terminals.killMuxSession(handle, 'typed-along');
    });
  });
}
