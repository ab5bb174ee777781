import t, { type Test } from 'tap';
import { InputWriter } from '../../../src/adapters/websocket/processes/input-writer.ts';
import { SocketPause } from '../../../src/adapters/websocket/socket-reader.ts';
import type { DomainError } from '../../../src/domain/errors.ts';
import { ok, refuse } from '../../../src/domain/result.ts';
import type { ProcessInput } from '../../../src/ports/containers/processes/container-processes.ts';

/** Input to a process that takes nothing until `take` is called, and first refuses with these codes. */
function anInput(t: Test, refusals: DomainError['code'][] = []) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const written: ProcessInput[] = [];
  const state = { isPaused: false };
  const rest = new SocketPause({
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
    },
  });
  const write = async (input: ProcessInput) => {
    await promise;
    const code = refusals.shift();
    if (code !== undefined) return refuse({ code } as DomainError);
    written.push(input);
    return ok((input.offset ?? 0) + input.data.length);
  };
  const input = new InputWriter(0, write, rest, {
    acknowledge: () => {},
    refused: (code) => t.fail(code),
    gap: () => t.fail('a gap'),
    failed: (error) => t.fail(String(error)),
  });
  return { input, written, state, take: resolve };
}

t.test('what follows the end of the input is dropped, until the client goes back', async (t) => {
  const { input, written, state, take } = anInput(t);
  input.take(Buffer.from('all'));
  for (let count = 0; count < 20_000; count += 1) input.end();
  input.take(Buffer.from('late'));
  t.notOk(state.isPaused);
  input.startAt(1);
  input.take(Buffer.from('ll'));
  input.end();
  take();
  await input.written();
  t.match(written, [
    { data: Buffer.from('all'), offset: 0, isLast: false },
    { data: Buffer.alloc(0), offset: 3, isLast: true },
    { data: Buffer.from('ll'), offset: 1, isLast: true },
  ]);
});

t.test('a socket of tiny frames is not read once many wait, and is again later', async (t) => {
  for (const kind of ['bytes', 'ends', 'repeats']) {
    const { input, state, take } = anInput(t);
    let frames = 0;
    for (; !state.isPaused && frames < 20_000; frames += 1) {
      if (kind !== 'bytes') input.startAt(0);
      if (kind === 'ends') input.end();
      else input.take(Buffer.from('x'));
    }
    t.ok(state.isPaused && frames > 1_000 && frames < 5_000, `${kind}: ${frames}`);
    take();
    await input.written();
    t.notOk(state.isPaused);
  }
});

t.test('input waits while its container is paused, as for a snapshot', async (t) => {
  const { input, written, take } = anInput(t, ['container_paused', 'container_paused']);
  input.take(Buffer.from('all'));
  take();
  await input.written();
  t.match(written, [{ data: Buffer.from('all'), offset: 0 }]);
});
