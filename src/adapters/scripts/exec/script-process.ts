import { randomUUID } from 'node:crypto';
import type { Duplex, Readable } from 'node:stream';
import { CappedOutput } from '../../../domain/capped-output.ts';
import { OutcomeUnknown } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerPrograms,
  ProgramOutput,
  Release,
} from '../../../ports/containers/inside/container-programs.ts';
import { endable } from './container-commands.ts';
import { inTime } from './in-time.ts';
import { endMarked } from './run-script.ts';

/** A program that prints nothing is ended after this time, and so is one that has not completed a line. */
const SILENT_SECONDS = 60;
/** Time to exit after announcing the end. */
const FINISH_SECONDS = 5;
const MAX_LEFTOVER_BYTES = 65_536;
const MAX_LINE_BYTES = 4096;
const MAX_ERROR_BYTES = 8192;

/** A running script of Berth's in a container. Its output is untrusted: the user can replace its tools. */
export type ScriptRun = {
  /** The next output line, null at the end. Throws when it is not complete within `seconds`, 60 by default. */
  line(seconds?: number | null): Promise<string | null>;
  /** As `line`, of a script that changes something. Throws `OutcomeUnknown` without a line or a complaint. */
  outcome(seconds: number): Promise<string | null>;
  /** The remaining output. Unread, it blocks the script. Throws when it is silent for too long. */
  rest(): AsyncGenerator<Buffer>;
  /** The first 8 KiB of stderr so far. */
  complaints(): string;
  /**
   * Sends `content` as input, a turn per piece, and ends the input; returns the number of bytes. Leaves the rest
   * unread.
   */
  feed(content: Readable, maxBytes: number, turn?: () => Promise<Release>): Promise<Fed>;
  /** Waits for its exit, or ends it if it writes more. Never throws. */
  finish(): Promise<void>;
  /** Ends it and its children. Never throws. */
  end(): Promise<void>;
};

export type Fed = number | 'too_large' | 'ended';

export type Script = {
  readonly script: string;
  readonly args: readonly string[];
  readonly stdin?: boolean;
};

export async function startScript(
  programs: Pick<ContainerPrograms, 'start'>,
  runtimeId: string,
  { script, args, stdin = false }: Script,
): Promise<ScriptRun> {
  const marker = randomUUID();
  const program = await programs.start(runtimeId, {
    command: ['sh', '-c', script, 'berth', ...args],
    env: { LC_ALL: 'C', BERTH_EXEC: marker },
    form: 'apart',
    stdin,
  });
  const { stream } = program;
  const ending = endable(stream, () => endMarked(programs, runtimeId, `BERTH_EXEC=${marker}`, 0));
  const errors = new CappedOutput(MAX_ERROR_BYTES);
  const output = stdoutOf(program.output(), ending.over, (data) => errors.add(data));
  let left: Buffer | null = null;
  const next = async (seconds: number | null = SILENT_SECONDS): Promise<Buffer | null> => {
    const taken = left ?? (await inTime(output.next(), seconds, ending.end)).value ?? null;
    left = null;
    return taken;
  };
  const wholeLine = async (): Promise<string | null> => {
    let text = Buffer.alloc(0);
    for (let end = -1; end < 0; end = text.indexOf('\n')) {
      const chunk = await next(null);
      if (chunk === null || text.length > MAX_LINE_BYTES) return null;
      text = Buffer.concat([text, chunk]);
    }
    const end = text.indexOf('\n');
    left = text.subarray(end + 1);
    return text.subarray(0, end).toString();
  };
  const line = (seconds: number | null = SILENT_SECONDS): Promise<string | null> =>
    inTime(wholeLine(), seconds, ending.end);
  return {
    line,
    async outcome(seconds) {
      const unknown = (cause?: unknown) => new OutcomeUnknown('a program did not say what it did', { cause });
      const answer = await line(seconds).catch((error: unknown) => {
        throw unknown(error);
      });
      if (answer === null && errors.bytes().length === 0) throw unknown();
      return answer;
    },
    async *rest() {
      for (let chunk = await next(); chunk !== null; chunk = await next()) if (chunk.length > 0) yield chunk;
    },
    complaints: () => errors.bytes().toString(),
    feed: (content, maxBytes, turn) => feed(stream, content, maxBytes, turn),
    finish: () => inTime(drained(next, ending.end), FINISH_SECONDS, ending.end).catch(() => {}),
    end: ending.end,
  };
}

async function* stdoutOf(
  printed: AsyncIterable<ProgramOutput>,
  over: () => void,
  complain: (data: Buffer) => void,
): AsyncGenerator<Buffer> {
  for await (const { stream, data } of printed) {
    if (stream === 'stdout') yield data;
    else complain(data);
  }
  over();
}

async function drained(
  next: (seconds: null) => Promise<Buffer | null>,
  end: () => Promise<void>,
): Promise<void> {
  let left = MAX_LEFTOVER_BYTES;
  for (let chunk = await next(null); chunk !== null; chunk = await next(null)) {
    left -= chunk.length;
    if (left < 0) return await end();
  }
}

const AT_ONCE = async (): Promise<Release> => () => {};

async function feed(into: Duplex, content: Readable, maxBytes: number, turn = AT_ONCE): Promise<Fed> {
  let size = 0;
  // Left open, so that the sender can still learn why the content is refused.
  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > maxBytes) return 'too_large';
    const release = await turn();
    try {
      if (into.destroyed || into.writableEnded) return 'ended';
      if (!into.write(chunk)) await roomIn(into);
    } finally {
      release();
    }
  }
  into.end();
  return size;
}

/** Resolves when the stream takes more, and at its end. */
const roomIn = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
