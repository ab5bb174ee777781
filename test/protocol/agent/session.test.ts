import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { encodeChannelFrame } from '../../../src/protocol/agent/channel-frames.ts';
import type { Channel } from '../../../src/protocol/agent/index.ts';
import {
  CHUNK_BYTES,
  MESSAGE_OVERHEAD_BYTES,
  Peer,
  UNACKNOWLEDGED_BYTES,
  WINDOW_BYTES,
} from '../../../src/protocol/agent/index.ts';
import { encodeNumbered } from '../../../src/protocol/agent/line-messages.ts';
import { COMMAND, type Opened, read, session, shellRequest } from '../../support/agent/lines.ts';

const MIB = 1_048_576;
const CHANNELS = 3;

const step = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    by: fc.constantFrom('service' as const, 'agent' as const),
    channel: fc.nat(CHANNELS - 1),
    bytes: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 300_000 })),
  }),
  fc.record({ type: fc.constant('deliver' as const), messages: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ type: fc.constant('acknowledge' as const) }),
  fc.record({ type: fc.constant('cut' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Writes all of it, as fast as the other side reads. Bytes differ by position, channel and direction. */
function writer(channel: () => Channel, seed: number) {
  let written = 0;
  let wanted = 0;
  const write = (): void => {
    const bytes = Uint8Array.from({ length: wanted - written }, (_, at) => (written + at) * 31 + seed);
    written += channel().write(bytes);
  };
  return {
    more: (bytes: number) => {
      wanted += bytes;
      write();
    },
    write,
    isDone: () => written === wanted,
    text: () => sha256([Uint8Array.from({ length: wanted }, (_, at) => at * 31 + seed)]),
  };
}

const sha256 = (parts: readonly Uint8Array[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

t.test('wherever the line is cut, all bytes of all channels arrive once, in both directions', async (t) => {
  const isExact = (steps: readonly Step[]): void => {
    const both = session();
    const channels = Array.from({ length: CHANNELS }, (_, at) => both.open(shellRequest(`s${at}`)));
    both.settle();
    const writers = channels.map(({ service, agent }, at) => ({
      service: writer(() => service, at),
      agent: writer(agent, at + 100),
    }));
    for (const one of steps) {
      if (one.type === 'write') writers[one.channel]?.[one.by].more(one.bytes);
      else if (one.type === 'deliver') both.deliver(one.messages);
      else if (one.type === 'cut') both.cut();
      else both.agent.flush();
    }
    const all = writers.flatMap(({ service, agent }) => [service, agent]);
    do {
      both.settle();
      for (const one of all) one.write();
    } while (!all.every((one) => one.isDone()));
    both.settle();
    for (const [at, { near, far }] of channels.entries()) {
      t.equal(sha256(far.bytes), writers[at]?.service.text());
      t.equal(sha256(near.bytes), writers[at]?.agent.text());
    }
    t.same(both.broken, []);
    t.equal(both.agent.unacknowledgedBytes + both.service.unacknowledgedBytes, 0, 'nothing is kept');
  };
  fc.assert(fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), isExact), { numRuns: 60 });
});

t.test('a slow reader stops its writer after one window, and nobody else', async (t) => {
  const both = session({ isSlow: true });
  const [slow, quick] = [both.open(shellRequest('slow')), both.open(shellRequest('quick'))];
  both.settle();
  const flood = new Uint8Array(4 * WINDOW_BYTES.shell);
  t.equal(slow.agent().write(flood), WINDOW_BYTES.shell);
  both.settle();
  t.equal(slow.agent().write(flood), 0, 'before anything is read');
  t.equal(quick.agent().write(flood), WINDOW_BYTES.shell, 'another channel');
  read(slow.near, slow.service);
  both.settle();
  t.equal(slow.agent().write(flood), WINDOW_BYTES.shell, 'after it was read');
});

t.test(
  'without acknowledgements a side keeps a few megabytes, however many channels have something',
  async (t) => {
    const both = session({ isSlow: true });
    const channels = Array.from({ length: 40 }, (_, at) => both.open(shellRequest(`s${at}`)));
    both.settle();
    for (const { agent } of channels) agent().write(new Uint8Array(WINDOW_BYTES.shell));
    const { up } = both.lines();
    // a line that swallows everything
    for (let sent = -1; sent !== 0; both.agent.pump()) sent = up.inFlight.splice(0).length;
    const kept = both.agent.unacknowledgedBytes;
    t.ok(kept >= UNACKNOWLEDGED_BYTES && kept < UNACKNOWLEDGED_BYTES + 65_536, `${kept} bytes`);
  },
);

t.test('a session ends whose agent sends on and on, and acknowledges nothing', async (t) => {
  const broken: string[] = [];
  const service = new Peer({ role: 'service', broken: (words) => broken.push(words) });
  service.attach({ send: () => {}, bufferedBytes: 0 }, 0);
  const send = (frame: Uint8Array): void => service.receive(encodeNumbered(service.received, frame));
  const reader = service.open(COMMAND, {
    data: (_stream, bytes) => reader?.consumed(bytes.length),
    reset: () => {},
  });
  send(encodeChannelFrame(1, { type: 'accepted', reply: { type: 'exec', pid: 1, terminal: false } }));
  const long = { ...COMMAND, env: { LONG: 'x'.repeat(1_047_000) } };
  for (let count = 0; count < 8; count += 1) service.open(long, { reset: () => {} });
  t.ok(service.unacknowledgedBytes > UNACKNOWLEDGED_BYTES);
  t.same(broken, [], 'commands alone stay below');
  const data = encodeChannelFrame(1, { type: 'data', stream: 1, bytes: new Uint8Array(CHUNK_BYTES) });
  const framesPerCredit = WINDOW_BYTES.exec / 4 / CHUNK_BYTES;
  const frames = (MIB * framesPerCredit) / MESSAGE_OVERHEAD_BYTES;
  for (let count = 0; count < frames && broken.length === 0; count += 1) send(data);
  t.equal(broken.length, 1);
  t.ok(service.unacknowledgedBytes < 6 * MIB, `${service.unacknowledgedBytes} bytes`);
});

t.test('keystrokes that wait are joined, though sizes came between them', async (t) => {
  const both = session();
  const shell = both.open();
  both.settle();
  both.service.detach();
  const typed = Buffer.from(Uint8Array.from({ length: 3_000 }, (_, at) => at));
  for (const [at, byte] of typed.entries()) {
    shell.service.write(Uint8Array.of(byte));
    shell.service.note({ type: 'resize', cols: 80 + (at % 2), rows: 24 });
  }
  both.cut();
  both.settle();
  const { bytes, events } = shell.far;
  t.ok(Buffer.concat(bytes).equals(typed));
  t.ok(bytes.length < 5, `${bytes.length} frames`);
  t.same(events, [JSON.stringify({ type: 'resize', cols: 81, rows: 24 })]);
});

t.test('a keystroke passes the floods of twenty other shells', async (t) => {
  const both = session();
  const floods = Array.from({ length: 20 }, (_, at) => both.open(shellRequest(`s${at}`)));
  const typed = both.open(shellRequest('typed'));
  both.settle();
  for (const { agent } of floods) agent().write(new Uint8Array(WINDOW_BYTES.shell));
  both.deliver(30);
  typed.agent().write(Buffer.from('x'));
  const onTheWay = both.lines().up.inFlight.length;
  both.deliver(onTheWay + 2);
  t.equal(Buffer.concat(typed.near.bytes).toString(), 'x');
});

t.test('requests are given up on a lost line, with the truth about each, and shells go on', async (t) => {
  const both = session();
  const [shell, begun] = [both.open(), both.open(COMMAND)];
  both.settle();
  both.service.detach();
  const unsent = both.open(COMMAND);
  both.service.giveUpRequests();
  t.equal(begun.near.events.at(-1), 'reset lost', 'it may have been done');
  t.same(unsent.near.events, ['reset unsent'], 'nobody has heard of it');
  both.cut();
  both.settle();
  t.equal(begun.far.events.at(-1), 'reset lost', 'the agent ends what it had begun');
  t.equal(both.agent.channelCount, 1, 'and never hears of the other');
  shell.agent().write(Buffer.from('still here'));
  both.settle();
  t.equal(Buffer.concat(shell.near.bytes).toString(), 'still here');
  t.same(both.broken, []);
});

t.test('a channel that ends before it was sent is not mentioned to the agent', async (t) => {
  const both = session();
  both.service.detach();
  both.open(COMMAND).service.reset('ended');
  both.cut();
  both.open();
  both.settle();
  t.same(both.broken, []);
  t.equal(both.agent.channelCount, 1);
});

t.test('a session that the other side has forgotten loses its channels', async (t) => {
  const both = session();
  const { near, service } = both.open();
  both.settle();
  t.notOk(both.service.canResume(99), 'more than was sent');
  both.service.end();
  t.same(near.events, ['accepted shell', 'reset lost']);
  t.equal(service.write(Buffer.from('x')), 0);
  t.equal(both.service.open(shellRequest(), near.handlers), null);
  t.notOk(both.service.canResume(both.agent.received));
});

t.test('what arrives in the wrong order or is malformed ends the session with a reason', async (t) => {
  const numbered = (sequence: number, ...frame: number[]) =>
    Uint8Array.of(16, 0, 0, 0, 0, 0, sequence, ...frame);
  const faults: [string, Uint8Array][] = [
    ['malformed message', Uint8Array.of()],
    ['malformed message', Uint8Array.of(99, 1, 2)],
    ['malformed message', Uint8Array.of(3, 1)],
    ['malformed message', new Uint8Array(1_048_577)],
    ['impossible acknowledgement', Uint8Array.of(3, 0, 0, 0, 0, 0, 200)],
    ['messages out of order', numbered(9, 4, 0, 0, 0, 1)],
    ['malformed frame', numbered(1, 99, 0, 0, 0, 1)],
    ['malformed frame', numbered(1, 3, 0, 0, 0, 1, 7, 1)],
    ['malformed frame', numbered(1, 5, 0, 0, 0, 1, 0, 0, 0, 0)],
    ['malformed frame', numbered(1, 7, 0, 0, 0, 1, 0xff)],
    ['unknown channel', numbered(1, 4, 0, 0, 0, 77)],
    ['only the service opens channels', numbered(1, 1, 0, 0, 0, 77, 123, 125)],
    ['channel 1: malformed result', numbered(1, 7, 0, 0, 0, 1, 123, 125)],
    ['channel 1: unexpected accepted', numbered(1, 2, 0, 0, 0, 1, 123, 125)],
    ['channel 1: too much credit', numbered(1, 5, 0, 0, 0, 1, 0xff, 0, 0, 0)],
  ];
  for (const [words, message] of faults) {
    const both = session();
    const { near } = both.open();
    both.settle();
    both.service.receive(message);
    t.same(both.broken, [`service: ${words}`], Buffer.from(message.subarray(0, 12)).toString('hex'));
    t.equal(near.events.at(-1), 'reset lost');
    both.service.receive(message);
    t.equal(both.broken.length, 1, 'once');
    t.match(Buffer.from(both.lines().down.inFlight.at(-1) ?? []).toString(), /"reason":"protocol"/);
  }
});

t.test('no bytes make a side throw', async (t) => {
  const body = fc.uint8Array({ maxLength: 60 });
  const type = fc.constantFrom(1, 2, 3, 4, 5, 6, 16, 99);
  const frame = fc.tuple(fc.nat(9), fc.nat(3), body).map(([kind, id, rest]) => [kind, 0, 0, 0, id, ...rest]);
  const message = fc.oneof(
    fc.tuple(type, body).map(([first, rest]) => Uint8Array.of(first, ...rest)),
    frame.map((bytes) => Uint8Array.of(16, 0, 0, 0, 0, 0, 0, ...bytes)),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
      let words = '';
      const peer = new Peer({
        role: 'agent',
        broken: (fault) => {
          words = fault;
        },
        opened: (_, channel) => {
          channel.reset('failed');
          return { reset: () => {} };
        },
      });
      peer.attach({ send: () => {}, bufferedBytes: 0 }, 0);
      for (const one of messages) peer.receive(one);
      t.type(words, 'string');
    }),
  );
});

t.test(
  'a channel half-closes, ends with its result after all data, or is reset by either side',
  async (t) => {
    const both = session();
    const opened = (): Opened => {
      const one = both.open({
        type: 'exec',
        command: ['cat'],
        env: {},
        cwd: null,
        timeout_seconds: null,
        stdin: true,
        terminal: null,
      });
      both.settle();
      return one;
    };
    const half = opened();
    half.service.write(Buffer.from('in'));
    half.service.end();
    t.equal(half.service.write(Buffer.from('late')), 0);
    both.settle();
    t.same(half.far.events, ['ended']);
    half.agent().write(new Uint8Array(100_000), 1);
    half.agent().finish({ type: 'exec', exit_code: 3, signal: null, timed_out: false, cut: false });
    both.settle();
    t.equal(Buffer.concat(half.near.bytes).length, 100_000);
    t.match(half.near.events, [/./, /"exit_code":3/]);
    const reset = opened();
    reset.agent().write(new Uint8Array(50_000));
    reset.service.reset('detached');
    both.settle();
    t.same(reset.far.events, ['reset detached']);
    t.same(reset.near.events, ['accepted exec'], 'what crossed it is dropped');
    t.same(both.broken, []);
    t.equal(both.service.channelCount + both.agent.channelCount, 0);
  },
);
