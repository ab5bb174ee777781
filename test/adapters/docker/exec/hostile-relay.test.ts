import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { containerHelpers } from '../../../../src/adapters/scripts/exec/container-helpers.ts';
import type {
  CommandEvent,
  ContainerCommands,
} from '../../../../src/ports/containers/inside/container-commands.ts';
import { standingTime } from '../../../support/time.ts';

const HANDLE = { node: 'test', runtimeId: 'one' };
const CHUNK_BYTES = 65_536;
const MOST_CHUNKS = 64;

/** Commands whose every program prints these chunks and exits; one that prints none waits until it is ended. */
function printing(chunks: () => Iterable<Buffer>) {
  const seen = { ends: 0, chunks: 0 };
  let unread = new PassThrough();
  const ended = Promise.withResolvers<CommandEvent>();
  async function* events(): AsyncGenerator<CommandEvent> {
    for (const data of chunks()) {
      seen.chunks += 1;
      yield { kind: 'output', stream: 'stdout', data };
    }
    yield seen.chunks > 0 ? { kind: 'exit', exitCode: 0 } : await ended.promise;
  }
  const commands: ContainerCommands = {
    open: async (_handle, { stdin }) => {
      if (stdin instanceof PassThrough) unread = stdin;
      return {
        events: events(),
        signal: async () => {},
        resize: async () => {},
        async end() {
          seen.ends += 1;
          ended.resolve({ kind: 'exit', exitCode: null });
        },
      };
    },
  };
  const helpers = containerHelpers(commands);
  return {
    seen,
    connect: () => helpers.connect(HANDLE, { kind: 'port', port: 80 }, new PassThrough()),
    listen: () => helpers.listen(HANDLE, { kind: 'port', port: 80 }),
    unreadBytes: () => unread.readableLength + unread.writableLength,
  };
}

const FIRST_FRAME = Buffer.from([0, 0, 0, 1, 0x2b]);
const lengthOf = (bytes: number): Buffer => {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes);
  return header;
};

function* longFrame(): Generator<Buffer> {
  yield lengthOf(2 ** 32 - 1);
  for (let count = 0; count < MOST_CHUNKS; count += 1) yield Buffer.alloc(CHUNK_BYTES);
}

t.test('a relay that announces a longer frame than it may send is ended at once', async (t) => {
  const first = printing(longFrame);
  await t.rejects(first.connect(), { name: 'RuntimeFailure' });
  t.ok(first.seen.chunks <= 2, `${first.seen.chunks} chunks were read`);
  t.equal(first.seen.ends, 1);

  const later = printing(function* () {
    yield FIRST_FRAME;
    yield* longFrame();
  });
  const opened = await later.connect();
  const read = async () => {
    for await (const _ of opened?.output ?? []) t.fail('no frame is whole');
  };
  await t.rejects(read(), { name: 'RuntimeFailure' });
  await opened?.closed;
  t.ok(later.seen.chunks <= 3, `${later.seen.chunks} chunks were read`);
  t.equal(later.seen.ends, 1);
});

t.test('the longest frame of the relay is read', async (t) => {
  const { connect } = printing(function* () {
    yield FIRST_FRAME;
    yield lengthOf(CHUNK_BYTES);
    yield Buffer.alloc(CHUNK_BYTES, 'x');
    yield lengthOf(0);
  });
  const opened = await connect();
  let bytes = 0;
  for await (const data of opened?.output ?? []) bytes += data.length;
  t.equal(bytes, CHUNK_BYTES);
});

t.test('a relay that prints arrivals and reads no answer is ended', async (t) => {
  const arrived = Buffer.from(`arrived /${'a'.repeat(200)}\n`.repeat(300));
  const { seen, listen, unreadBytes } = printing(function* () {
    yield Buffer.from('listening 80\n');
    for (let count = 0; count < MOST_CHUNKS; count += 1) yield arrived;
  });
  const listener = await listen();
  for await (const arrival of listener?.arrivals ?? []) arrival.refuse();
  await listener?.closed;
  t.ok(unreadBytes() < 4 * CHUNK_BYTES, `${unreadBytes()} bytes wait for the relay`);
  await listener?.end();
  t.ok(seen.ends > 0);
});

t.test('a relay that prints a longer line than it may is ended', async (t) => {
  for (const end of ['', '\n']) {
    const { seen, listen } = printing(function* () {
      yield Buffer.from('listening 80\n');
      yield Buffer.from(`arrived /${'a'.repeat(513)}${end}`);
    });
    const listener = await listen();
    const read = async () => {
      for await (const _ of listener?.arrivals ?? []) t.fail('no line is short enough');
    };
    await t.rejects(read(), { name: 'RuntimeFailure' });
    await listener?.closed;
    t.ok(seen.ends > 0);
  }
});

t.test('a relay that does not say that it is connected is ended', async (t) => {
  const time = standingTime(t);
  const { seen, connect } = printing(() => []);
  let outcome = '';
  const connecting = connect().then(
    () => {
      outcome = 'connected';
    },
    (error: Error) => {
      outcome = error.name;
    },
  );
  await turn();
  time.pass(29_000);
  await turn();
  t.equal(outcome, '');
  time.pass(2_000);
  for (let turns = 0; turns < 20 && outcome === ''; turns += 1) await turn();
  t.equal(outcome, 'AnswerLate');
  t.equal(seen.ends, 1);
  if (outcome !== '') await connecting;
});
