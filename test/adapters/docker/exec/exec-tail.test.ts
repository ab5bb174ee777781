import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import t from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { hasExited, keepTail } from '../../../../src/adapters/docker/exec/exec-tail.ts';
import { waitFor } from '../../../support/patience.ts';

const CHUNK = 65_536;

/** The output of a program that prints chunks as they are read. */
function aProgram() {
  let waiting = 0;
  let isAwaited = false;
  const source = new Readable({
    highWaterMark: 1,
    read() {
      isAwaited = waiting === 0;
      if (isAwaited) return;
      waiting -= 1;
      this.push(Buffer.alloc(CHUNK));
    },
  });
  const print = (chunks: number): void => {
    waiting += chunks;
    if (isAwaited) source._read(1);
  };
  return { source, print, chunks: () => source.readableLength / CHUNK };
}

/** An engine's word about a program, and a wait until it was asked so often again. */
function anEngine() {
  const state = { program: 'running' as 'running' | 'ended' | 'unknown', asked: 0 };
  const docker = { ping: async () => 'OK' } as unknown as Docker;
  const inspect = async (): Promise<unknown> => {
    state.asked += 1;
    if (state.program === 'unknown') throw new Error('busy');
    return { Running: state.program === 'running' };
  };
  const says = async (program: typeof state.program, times = 2): Promise<void> => {
    state.program = program;
    const before = state.asked;
    await waitFor(() => state.asked >= before + times, { what: `the engine to say: ${program}` });
  };
  return { hasEnded: hasExited(engineCalls(docker), { inspect } as unknown as Docker.Exec), says };
}

t.test('a slow engine neither hides the end of a paused program nor lets it run on', async (t) => {
  const { source, print, chunks } = aProgram();
  const { hasEnded, says } = anEngine();
  keepTail(source, hasEnded);
  source.resume();
  source.pause();
  await says('unknown');
  print(10);
  await says('unknown');
  t.equal(chunks(), 4, 'what may be the last output is read');
  await says('running');
  source.read();
  t.equal(chunks(), 0);
  await says('running');
  t.equal(chunks(), 1, 'a running program waits');
  await says('ended', 1);
  await waitFor(() => chunks() === 4, { what: 'the last output' });
  source.destroy();
});
