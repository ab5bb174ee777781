import t from 'tap';
import { followOutput } from '../../../../src/adapters/scripts/processes/output-reader.ts';
import type {
  CommandEvent,
  ContainerCommands,
} from '../../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../../support/patience.ts';

const HANDLE = { node: 'test', runtimeId: 'one' };
const START = { stdout: 0, stderr: 0 };
const HEADER = '0 0\n';
const RENEW = 4;
/** More readers than any test needs, so that a test without an end fails. */
const MOST_READERS = 200;

/** One reader: what it prints, how it exits, and after how long. One that hangs exits when it is ended. */
type Run = {
  readonly prints: string;
  readonly exitCode: number;
  readonly seconds?: number;
  readonly hangs?: boolean;
};

/** Readers of a container, each of which runs as `runOf` says by its number, and a clock for them. */
function readers(runOf: (number: number) => Run, headerSeconds = 20) {
  const seen = { readers: 0, pausesMs: [] as number[], ends: 0 };
  let nowMs = 0;
  async function* eventsOf(run: Run, ended: Promise<void>): AsyncGenerator<CommandEvent> {
    const { prints, exitCode, seconds = 0, hangs = false } = run;
    if (hangs) await ended;
    if (prints !== '') yield { kind: 'output', stream: 'stdout', data: Buffer.from(prints) };
    nowMs += seconds * 1000;
    yield { kind: 'exit', exitCode };
  }
  const commands: ContainerCommands = {
    async open() {
      seen.readers += 1;
      if (seen.readers > MOST_READERS) throw new Error('there is no end of readers');
      const ended = Promise.withResolvers<void>();
      return {
        events: eventsOf(runOf(seen.readers), ended.promise),
        signal: async () => {},
        resize: async () => {},
        async end() {
          seen.ends += 1;
          ended.resolve();
        },
      };
    },
  };
  const follow = (onPause: () => void = () => {}) =>
    followOutput(
      commands,
      { handle: HANDLE, id: 'process', after: START, follow: false },
      {
        headerSeconds,
        nowMs: () => nowMs,
        pause: async (ms) => {
          seen.pausesMs.push(ms);
          nowMs += ms;
          onPause();
        },
      },
    );
  return { seen, follow };
}

async function textOf(output: Awaited<ReturnType<typeof followOutput>>): Promise<string> {
  let text = '';
  for await (const { data } of output?.pieces ?? []) text += data;
  return text;
}

const replaced: readonly (readonly [string, Run])[] = [
  ['asks to be started again', { prints: HEADER, exitCode: RENEW }],
  ['prints a byte and fails', { prints: `${HEADER}x`, exitCode: 1 }],
  ['prints a byte and asks to be started again', { prints: `${HEADER}x`, exitCode: RENEW }],
];
for (const [what, run] of replaced)
  t.test(`a reader that at once ${what} is given up, after pauses`, async (t) => {
    const { seen, follow } = readers(() => run);
    await t.rejects(textOf(await follow()), { name: 'RuntimeFailure' });
    t.ok(seen.readers <= 25, `${seen.readers} readers`);
    t.equal(seen.pausesMs.length, seen.readers - 1, 'one before each other reader');
    t.ok((seen.pausesMs.at(-1) ?? 0) > (seen.pausesMs[0] ?? 0), 'they grow');
  });

t.test('a reader that says nothing is given up, after pauses', async (t) => {
  const { seen, follow } = readers(() => ({ prints: '', exitCode: 3 }));
  await t.rejects(follow(), { name: 'RuntimeFailure' });
  t.equal(seen.pausesMs.length, seen.readers - 1);
});

const SILENT: Run = { prints: '', exitCode: 137, hangs: true };

t.test('a reader that neither says where it starts nor exits is ended', async (t) => {
  const { seen, follow } = readers(() => SILENT, 0.01);
  await t.rejects(follow(), { name: 'AnswerLate' });
  t.match(seen, { readers: 1, ends: 1 });
});

t.test('a caller that leaves ends a reader that says nothing', async (t) => {
  const { seen, follow } = readers((number) => (number === 1 ? { prints: HEADER, exitCode: RENEW } : SILENT));
  const output = await follow();
  const text = textOf(output);
  await waitFor(() => seen.readers === 2);
  await output?.end();
  t.equal(await text, '');
});

t.test('readers that print much are slowed down, but not given up', async (t) => {
  const much = 'x'.repeat(65_536);
  const { seen, follow } = readers((number) => ({
    prints: HEADER + much,
    exitCode: number === 60 ? 0 : 3,
  }));
  t.equal((await textOf(await follow())).length, 60 * much.length);
  t.equal(seen.pausesMs.length, 59);
});

t.test('readers that last are followed by the next at once', async (t) => {
  const { seen, follow } = readers((number) => ({
    prints: HEADER,
    exitCode: number === 60 ? 0 : RENEW,
    seconds: 200,
  }));
  await textOf(await follow());
  t.same([seen.readers, seen.pausesMs], [60, []]);
});

for (const prints of [`${HEADER}x`, ''])
  t.test(
    `an end in a pause opens no other reader, after one that printed ${prints.length} bytes`,
    async (t) => {
      const { seen, follow } = readers((number) => ({ prints: number === 1 ? HEADER : prints, exitCode: 1 }));
      const wanted = prints === '' ? 2 : 1;
      const output = await follow(() => {
        if (seen.pausesMs.length === wanted) void output?.end();
      });
      await textOf(output);
      t.equal(seen.readers, wanted);
    },
  );
