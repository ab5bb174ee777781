import t from 'tap';
import {
  type CommandRun,
  type Resumption,
  resumptionOf,
} from '../../../src/domain/containers/command-run.ts';
import type { ReplicaReport } from '../../../src/domain/service/health.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const secondsAgo = (count: number): Date => new Date(NOW.getTime() - count * 1_000);
const run = (end: CommandRun['end'] = null): CommandRun => ({
  replica: 'theirs',
  startedAt: secondsAgo(100),
  end,
});
const report = (over: Partial<ReplicaReport> = {}): ReplicaReport => ({
  replica: 'theirs',
  startedAt: secondsAgo(900),
  seenAt: secondsAgo(5),
  stoppedAt: null,
  parts: [],
  ...over,
});
const full = { kind: 'exit', exitCode: 3, outputBytes: 10 } as const;

const recent = { ...run(), startedAt: secondsAgo(60) };

const CASES: readonly [
  name: string,
  run: CommandRun | null,
  asked: string,
  of: ReplicaReport | null,
  is: Resumption,
][] = [
  ['no record', null, 'mine', report(), { kind: 'unknown' }],
  ['ended, and all output has come', run(full), 'mine', report(), { kind: 'ended', exitCode: 3 }],
  [
    'ended, and its process has the rest',
    run({ ...full, outputBytes: 11 }),
    'mine',
    report(),
    { kind: 'elsewhere' },
  ],
  [
    'ended, and its process was killed',
    run({ kind: 'exit', exitCode: null, outputBytes: 11 }),
    'mine',
    report({ seenAt: secondsAgo(61) }),
    { kind: 'output_lost', exitCode: null },
  ],
  ['running elsewhere', run(), 'mine', report(), { kind: 'elsewhere' }],
  ['its process is gone', run(), 'mine', null, { kind: 'lost' }],
  ['its process pauses', run(), 'mine', report({ seenAt: secondsAgo(60) }), { kind: 'elsewhere' }],
  ['its new process has not reported', recent, 'mine', null, { kind: 'elsewhere' }],
  [
    'only the killed process before its own has reported',
    recent,
    'mine',
    report({ seenAt: secondsAgo(300) }),
    { kind: 'elsewhere' },
  ],
  [
    'only the stopped process before its own has reported',
    recent,
    'mine',
    report({ seenAt: secondsAgo(80), stoppedAt: secondsAgo(70) }),
    { kind: 'elsewhere' },
  ],
  ['abandoned', run({ kind: 'abandoned' }), 'mine', report(), { kind: 'abandoned' }],
  ['its process has its fault', run({ kind: 'unknown' }), 'mine', report(), { kind: 'elsewhere' }],
  ['nobody saw its end', run({ kind: 'unknown' }), 'theirs', report(), { kind: 'unknown' }],
  ['its process has stopped', run(), 'mine', report({ stoppedAt: secondsAgo(1) }), { kind: 'lost' }],
  ['its process is silent', run(), 'mine', report({ seenAt: secondsAgo(61) }), { kind: 'lost' }],
  ['its process was restarted', run(), 'mine', report({ startedAt: secondsAgo(99) }), { kind: 'lost' }],
  ['this process was, and has not reported', run(), 'theirs', report(), { kind: 'lost' }],
];

for (const [name, of, asked, reported, is] of CASES) {
  t.test(`a command that is resumed: ${name}`, async (t) => {
    const by = { replica: asked, hasBegun: false };
    t.same(resumptionOf(of, 10, by, reported === null ? [] : [reported], NOW), is);
  });
}

t.test('a process that began a command and no longer has it is ending it', async (t) => {
  const by = { replica: 'theirs', hasBegun: true };
  t.same(resumptionOf(run(), 10, by, [report()], NOW), { kind: 'abandoned' });
  t.same(resumptionOf(run(full), 10, by, [report()], NOW), { kind: 'ended', exitCode: 3 });
});
