import type { PassThrough, Readable } from 'node:stream';
import { within } from '../../../concurrency/timeout.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type {
  ControlledCommand,
  InnerAddress,
  InnerArrival,
  InnerConnection,
  InnerListener,
} from '../../../ports/containers/inside/container-commands.ts';
import { inTime } from './in-time.ts';

const FIRST_LINE_SECONDS = 30;
/** How long the relay may take to remove its sockets. */
const CLEANS_UP_MS = 1_000;
/** Longer than any line of the relay. */
const MAX_LINE_BYTES = 512;
/** The most input that the relay has not read: more than a refusal of every connection that may wait. */
const MAX_WORDS_BYTES = 65_536;

type Connect = (path: string, stdin: Readable) => Promise<InnerConnection | null>;

/**
 * The listener of a started relay. null when it cannot listen. `connect` connects to a socket in the container.
 */
export async function startListener(
  relay: ControlledCommand,
  words: PassThrough,
  connect: Connect,
): Promise<InnerListener | null> {
  const over = Promise.withResolvers<void>();
  const lines = linesOf(relay, over.resolve);
  const first = await inTime(lines.next(), FIRST_LINE_SECONDS, relay.end);
  if (first.done) return null;
  const end = async (): Promise<void> => {
    words.end();
    await within(CLEANS_UP_MS, over.promise, undefined);
    await relay.end();
    over.resolve();
  };
  // The user can stop the relay from reading, and print arrivals.
  const say = (word: string): void => {
    if (!words.writable) return;
    words.write(`${word}\n`);
    if (words.writableLength > MAX_WORDS_BYTES) void end();
  };
  const address = addressOf(first.value);
  if (address === null) {
    await end();
    throw new RuntimeFailure('a relay did not say where it listens');
  }
  const arrival = (path: string): InnerArrival => ({
    connect: (stdin) => connect(path, stdin),
    refuse: () => say(`refuse ${path}`),
  });
  return {
    address,
    arrivals: arrivalsOf(lines, arrival),
    closed: over.promise,
    stop: () => say('stop'),
    end,
  };
}

async function* arrivalsOf(
  lines: AsyncGenerator<string>,
  arrival: (path: string) => InnerArrival,
): AsyncGenerator<InnerArrival> {
  for await (const line of lines) {
    const path = /^arrived (\/.+)$/.exec(line)?.[1];
    if (path !== undefined) yield arrival(path);
  }
}

function addressOf(line: string): InnerAddress | null {
  const [, at = ''] = /^listening (.+)$/.exec(line) ?? [];
  if (at.startsWith('/')) return { kind: 'socket', path: at };
  return /^\d{1,5}$/.test(at) ? { kind: 'port', port: Number(at) } : null;
}

/** Users can replace the relay: a line that is too long ends it. */
async function* linesOf({ events, end }: ControlledCommand, over: () => void): AsyncGenerator<string> {
  let left = '';
  try {
    for await (const event of events) {
      if (event.kind === 'exit') return;
      if (event.stream === 'stderr') continue;
      const [...lines] = (left + event.data.toString('latin1')).split('\n');
      left = lines.pop() ?? '';
      for (const line of lines) yield inLength(line, end);
      inLength(left, end);
    }
  } finally {
    over();
  }
}

function inLength(line: string, end: () => Promise<void>): string {
  if (line.length <= MAX_LINE_BYTES) return line;
  void end();
  throw new RuntimeFailure('a relay printed too long a line');
}
