import pino from 'pino';
import t from 'tap';
import { every } from '../../src/app/main/every.ts';
import { stops } from '../../src/app/main/stops.ts';

const log = pino({ level: 'silent' });

t.test('parts stop in the opposite order, whether or not one fails', async (t) => {
  const opened = stops(log);
  const stopped: string[] = [];
  opened.add('first', async () => void stopped.push('first'));
  opened.add('second', async () => {
    stopped.push('second');
    throw new Error('no');
  });
  opened.add('third', async () => void stopped.push('third'));
  await Promise.all([opened.run(), opened.run()]);
  t.same(stopped, ['third', 'second', 'first'], 'once');
});

t.test('a pass that does not end holds nobody up', async (t) => {
  const opened = stops(log);
  let passes = 0;
  let began = (): void => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const pass = (): Promise<void> => {
    passes += 1;
    began();
    return new Promise(() => {});
  };
  let last = false;
  opened.add('last', async () => {
    last = true;
  });
  opened.add('background', every(1, pass, log, 0), 20);
  await begun;
  await opened.run();
  t.ok(last);
  t.equal(passes, 1);
});

t.test('what fails after it was left alone ends nothing', async (t) => {
  const opened = stops(log);
  let fail = (_: Error): void => {};
  const never = new Promise<void>((_, reject) => {
    fail = reject;
  });
  opened.add('late', () => never, 1);
  await opened.run();
  fail(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  t.pass("it is nobody's any more");
});

t.test('what is opened while the others are being stopped, or later, is stopped too', async (t) => {
  const opened = stops(log);
  const stopped: string[] = [];
  opened.add('first', async () => {
    opened.add('during', async () => void stopped.push('during'));
    stopped.push('first');
  });
  await opened.run();
  t.same(stopped, ['first', 'during']);
  opened.add('after', async () => void stopped.push('after'));
  await opened.run();
  t.same(stopped, ['first', 'during', 'after']);
});
