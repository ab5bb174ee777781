import type { RunningCommand } from '../../client/index.ts';
import type { Io } from '../io/io.ts';
import type { RawTerminal } from '../io/raw-terminal.ts';
import { writeTo } from '../io/streams.ts';

const INTERRUPT = 0x03;

/** Shows a program on the user's terminal until it ends. Returns its exit code. While the line is lost, a second Ctrl-C ends it. */
export async function showOnTerminal(
  running: RunningCommand,
  raw: RawTerminal,
  io: Io,
): Promise<number | null> {
  let interrupts = 0;
  const restore = raw.begin({
    input(bytes) {
      if (running.isConnected) interrupts = 0;
      else interrupts += bytes.filter((byte) => byte === INTERRUPT).length;
      if (interrupts > 1) running.close();
      else void running.write(bytes);
    },
    resized: (size) => running.resize(size),
    ended: () => running.close(),
  });
  let isWhole = false;
  try {
    for await (const { bytes } of running) await writeTo(io.out, bytes);
    const exitCode = await running.exitCode;
    isWhole = true;
    return exitCode;
  } finally {
    // A program that was cut off may have left modes behind.
    restore(isWhole ? 'as it is' : 'reset');
  }
}
