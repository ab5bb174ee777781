import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { PseudoTerminal, type PseudoTerminalEnd } from '../../src/agent/shells/pseudo-terminal.ts';
import { aFolder } from '../support/folder.ts';

/** Longer than both waits after the exit of a program. */
const BUSY_MS = 600;
const COUNT = 5;

/** Nothing else runs in this process meanwhile. */
const beBusy = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);

t.test('a busy process loses no output that came after the exit of its program', async (t) => {
  const fifo = path.join(aFolder(t), 'next');
  execFileSync('mkfifo', [fifo]);
  const next = openSync(fifo, 'r+');
  t.teardown(() => closeSync(next));
  const script = `trap '' HUP
    exec 3<"$0"
    for n in ${Array.from({ length: COUNT }, (_, at) => at + 1).join(' ')}; do printf "<$n>"; read -r line <&3; done &
    exit 3`;
  let shown = '';
  let seen = 0;
  const answer = (): void => {
    writeSync(next, '\n');
    beBusy();
  };
  const end = await new Promise<PseudoTerminalEnd>((resolve) => {
    new PseudoTerminal(
      { file: 'sh', args: ['-c', script, fifo], env: {}, cwd: '/', cols: 80, rows: 24 },
      {
        output: (bytes) => {
          shown += bytes;
          for (const count = shown.split('>').length - 1; seen < count; seen += 1) setImmediate(answer);
        },
        ended: resolve,
      },
    );
  });
  t.same([shown, end], ['<1><2><3><4><5>', { exitCode: 3, signal: null }]);
});
