import t from 'tap';
import { memoryBusHub } from '../../../src/adapters/memory/index.ts';
import { recordingMessages } from '../../../src/app/recordings/recording-messages.ts';
import type { BusMessage } from '../../../src/ports/bus.ts';
import { waitFor } from '../../support/patience.ts';
import { silentLog } from '../../support/samples/samples.ts';

const NOTICE = { id: '1', userId: 'ada', dbId: 'box', connectionId: 'main' };
const REQUEST = { terminal: '2', containerName: 'dev', ipAddress: '192.0.2.1', userAgent: 'curl' };

/** A sending process, and what another receives and logs. */
function scene() {
  const hub = memoryBusHub();
  const received: unknown[] = [];
  const warned: unknown[] = [];
  const warn = (fields: object | string) => void warned.push(fields);
  const there = recordingMessages(hub.join(), { ...silentLog, warn });
  there.subscribe({
    notice: (notice) => void received.push(['notice', notice]),
    start: (request) => void received.push(['start', request]),
  });
  there.subscribe({
    stop: (id) => void received.push(['stop', id]),
    removed: (id) => void received.push(['removed', id]),
  });
  there.subscribe({});
  const bus = hub.join();
  return { bus, here: recordingMessages(bus, silentLog), received, warned };
}

t.test('each message reaches exactly its listener in the other process', async (t) => {
  const { here, received, warned } = scene();
  here.publishNotice(NOTICE as never, true, 'on');
  here.start(REQUEST);
  here.stop('3');
  here.removed('4');
  await waitFor(() => received.length >= 4);
  t.same(received, [
    ['notice', { ...NOTICE, on: true, message: 'on' }],
    ['start', REQUEST],
    ['stop', '3'],
    ['removed', '4'],
  ]);
  t.same(warned, []);
});

/** Each field missing, and each of another type. */
const broken = (message: BusMessage): readonly BusMessage[] =>
  Object.keys(message).flatMap((name) => [
    Object.fromEntries(Object.entries(message).filter(([other]) => other !== name)),
    { ...message, [name]: 7 },
  ]);

t.test('a malformed message is ignored and logged once', async (t) => {
  const { bus, here, received, warned } = scene();
  const malformed: readonly BusMessage[] = [
    {},
    { kind: 'erase', id: '1' },
    ...broken({ kind: 'stop', id: '1' }),
    ...broken({ kind: 'removed', id: '1' }),
    ...broken({ kind: 'start', ...REQUEST }),
    ...broken({ kind: 'notice', ...NOTICE, on: true, message: 'on' }),
  ];
  for (const message of malformed) bus.publish('recordings', message);
  here.stop('last');
  await waitFor(() => received.length > 0);
  t.same(received, [['stop', 'last']], 'the next message is received');
  t.same(
    warned,
    malformed.map(({ kind }) => ({ kind })),
  );
});
