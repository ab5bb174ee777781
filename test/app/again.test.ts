import t from 'tap';
import { again } from '../../src/app/main/again.ts';
import { unlessAborted } from '../../src/app/main/unless-aborted.ts';

t.test('what has failed is tried again until it succeeds', async (t) => {
  let tries = 0;
  const attempt = async (): Promise<boolean> => {
    tries += 1;
    return tries === 4;
  };
  t.equal(await again(attempt, new AbortController().signal, 1), true);
  t.equal(tries, 4);
});

t.test('the pauses grow', async (t) => {
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => void pauses.push(ms);
  await again(async () => pauses.length === 9, new AbortController().signal, undefined, pause);
  const seconds = pauses.map((ms) => ms / 1_000);
  t.same(
    seconds,
    [5, 10, 20, 40, 80, 160, 300, 300, 300],
    'each is twice as long as the last one, to a limit',
  );
});

t.test('a signal ends the tries, also in a pause', async (t) => {
  const stopping = new AbortController();
  let tries = 0;
  const attempt = async (): Promise<boolean> => {
    tries += 1;
    setImmediate(() => stopping.abort());
    return false;
  };
  t.equal(await again(attempt, stopping.signal, 1), false);
  const waiting = new AbortController();
  const ended = again(async () => !t.fail('it is not tried any more'), waiting.signal, 3_600_000);
  waiting.abort();
  t.equal(await ended, false);
  t.ok(tries >= 1);
});

t.test('work that knows no signal is left alone when it comes, and may fail later', async (t) => {
  const stopping = new AbortController();
  const work = Promise.withResolvers<string>();
  const waited = unlessAborted(stopping.signal, work.promise);
  stopping.abort();
  await t.rejects(waited, { name: 'AbortError' });
  work.reject(new Error('too late'));
  await t.rejects(unlessAborted(stopping.signal, Promise.withResolvers().promise), { name: 'AbortError' });
  const { signal } = new AbortController();
  t.equal(await unlessAborted(signal, Promise.resolve('done')), 'done');
  await t.rejects(unlessAborted(signal, Promise.reject(new Error('no'))), { message: 'no' });
});
