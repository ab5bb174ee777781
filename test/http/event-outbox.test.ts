import t from 'tap';
import { RESYNC_FRAME } from '../../src/adapters/websocket/events/event-frames.ts';
import { EventOutbox } from '../../src/adapters/websocket/events/event-outbox.ts';

const frames = (...names: readonly (string | number)[]): Buffer[] =>
  names.map((name) => Buffer.from(String(name)));
const upTo = (count: number): Buffer[] => frames(...Array.from({ length: count }, (_, n) => n));
const FULL = 'x'.repeat(262_144);
const RESYNC = 'resync';

/** A socket that records its frames, and drains on request. */
function aSocket() {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const socket = { readyState: 1, OPEN: 1 } as { readyState: 0 | 1 | 2 | 3; readonly OPEN: 1 };
  const connection = {
    writableLength: 0,
    write(frame: Buffer, drained?: unknown) {
      const text = String(frame);
      sent.push(text === FULL ? 'full' : frame === RESYNC_FRAME ? RESYNC : text);
      if (typeof drained === 'function') waiting.push(drained as () => void);
      return true;
    },
  };
  const drain = (): void => {
    for (const then of waiting.splice(0)) then();
  };
  return { socket, connection, sent, drain };
}

type Step = (outbox: EventOutbox, drain: () => void) => void;
const send =
  (...given: readonly Buffer[]): Step =>
  (outbox) => {
    for (const frame of given) outbox.send(frame);
  };
const begin =
  (missed: readonly Buffer[] | null): Step =>
  (outbox) =>
    outbox.begin(missed);
const sendNow =
  (frame: string): Step =>
  (outbox) =>
    outbox.sendNow(Buffer.from(frame));
const stop: Step = (outbox) => outbox.stop();
const drained: Step = (_outbox, drain) => drain();

/** Three may wait. */
const CASES: readonly (readonly [name: string, steps: readonly Step[], sent: readonly string[]])[] = [
  ['nothing is sent before it is known what was missed', [send(...frames('a', 'b'))], []],
  [
    'what was missed comes before what came meanwhile, and that before what comes later',
    [send(...frames('c', 'd')), begin(frames('a', 'b')), send(...frames('e'))],
    ['a', 'b', 'c', 'd', 'e'],
  ],
  ['three may wait', [send(...upTo(3)), begin([])], ['0', '1', '2']],
  ['a fourth is too many: all are dropped for a resync', [send(...upTo(4)), begin([])], [RESYNC]],
  [
    'what was missed is dropped with them, and what comes later is sent',
    [send(...upTo(4)), begin(frames('a')), send(...frames('e'))],
    [RESYNC, 'e'],
  ],
  [
    'a resync stands for missed events that nobody has any more',
    [send(...frames('a')), begin(null), send(...frames('b'))],
    [RESYNC, 'b'],
  ],
  [
    'while the socket is full events wait, in their order',
    [begin([]), send(...frames(FULL, 'a', 'b')), drained, send(...frames('c'))],
    ['full', 'a', 'b', 'c'],
  ],
  ['and are not sent before it drains', [begin([]), send(...frames(FULL, 'a', 'b'))], ['full']],
  [
    'the limit is the same there',
    [begin([]), send(...frames(FULL, 0, 1, 2, 3)), drained, send(...frames('e'))],
    ['full', RESYNC, 'e'],
  ],
  [
    'one that fills the socket anew holds back those behind it',
    [begin([]), send(...frames(FULL, FULL, 'a')), drained],
    ['full', 'full'],
  ],
  [
    'a frame outside of the order is dropped when the socket is full, else sent at once',
    [sendNow('now'), begin([]), send(...frames(FULL)), sendNow('late'), drained, sendNow('again')],
    ['now', 'full', 'again'],
  ],
  ['a stopped one sends nothing', [begin([]), stop, send(...frames('a')), sendNow('b')], []],
  ['nor what waited', [send(...frames('a')), stop, begin(frames('b'))], []],
  ['nor what waited for the socket', [begin([]), send(...frames(FULL, 'a')), stop, drained], ['full']],
];

for (const [name, steps, expected] of CASES) {
  t.test(name, async (t) => {
    const { socket, connection, sent, drain } = aSocket();
    const outbox = new EventOutbox(socket, connection, 3);
    for (const step of steps) step(outbox, drain);
    t.same(sent, expected);
  });
}

t.test('a closing socket gets nothing more', async (t) => {
  const { socket, connection, sent } = aSocket();
  const outbox = new EventOutbox(socket, connection, 3);
  outbox.begin(frames('a'));
  socket.readyState = 2;
  outbox.send(Buffer.from('b'));
  outbox.sendNow(Buffer.from('c'));
  t.same(sent, ['a']);
});
