import { stripVTControlCharacters } from 'node:util';
import { type IPtyForkOptions, spawn } from '@lydell/node-pty';
import type { Test } from 'tap';
import { waitFor } from '../patience.ts';

/** Runs a program on a terminal of its own until `t` ends. */
export function onTerminal(t: Test, file: string, args: readonly string[], options: IPtyForkOptions) {
  const user = spawn(file, [...args], { cols: 90, rows: 30, ...options });
  let shown = '';
  user.onData((text) => {
    shown += text;
  });
  const ended = new Promise<number>((resolve) => user.onExit(({ exitCode }) => resolve(exitCode)));
  t.teardown(async () => {
    user.kill('SIGKILL');
    await ended;
  });
  /** Without what colours and moves the cursor, a pattern is found too. */
  const isShown = (text: string | RegExp): boolean =>
    typeof text === 'string'
      ? shown.includes(text)
      : text.test(shown) || text.test(stripVTControlCharacters(shown));
  return {
    user,
    /** Its exit code. */
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
