import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { Test } from 'tap';
import { PseudoTerminal } from '../../../src/agent/shells/pseudo-terminal.ts';
import { waitFor } from '../patience.ts';

type Options = { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> };

const numberOf = (signal: string | null): number => constants.signals[`SIG${signal}` as NodeJS.Signals] ?? 0;

/** Runs a program on a terminal of its own until `t` ends. */
export function onTerminal(t: Test, file: string, args: readonly string[], { cwd, env }: Options) {
  let shown = '';
  const decoder = new TextDecoder();
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const pty = new PseudoTerminal(
    { file, args, cwd, env: set, term: 'xterm', cols: 90, rows: 30 },
    {
      output: (bytes) => {
        shown += decoder.decode(bytes, { stream: true });
      },
      ended: ({ exitCode, signal }) => resolve(exitCode ?? 128 + numberOf(signal)),
    },
  );
  t.teardown(async () => {
    pty.kill('KILL');
    await ended;
  });
  /** Without what colours and moves the cursor, a pattern is found too. */
  const isShown = (text: string | RegExp): boolean =>
    typeof text === 'string'
      ? shown.includes(text)
      : text.test(shown) || text.test(stripVTControlCharacters(shown));
  return {
    user: {
      write: (text: string): void => pty.write(Buffer.from(text), () => {}),
      resize: (cols: number, rows: number): void => pty.resize(cols, rows),
    },
    /** Its exit code; 128 and the signal's number when a signal has ended it. */
    ended,
    shown: () => shown,
    /** From now on only later output counts. */
    clear: () => {
      shown = '';
    },
    shows: (text: string | RegExp): Promise<void> =>
      waitFor(() => isShown(text), { what: () => `${text} in ${JSON.stringify(shown.slice(-500))}` }),
  };
}
