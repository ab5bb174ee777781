import t from 'tap';
import { recorder } from '../../src/app/recorder.ts';
import type { CutReason } from '../../src/domain/recording.ts';

/** A recording with room for all, and what was written of it. */
function setUp() {
  const written: string[] = [];
  const cuts: CutReason[] = [];
  const file = {
    append: async (lines: string) => void written.push(lines),
    close: async () => {},
  };
  const tape = recorder({
    file,
    startedAt: new Date('2026-03-04T05:06:07.890Z'),
    size: { cols: 80, rows: 24 },
    limitBytes: 1_000_000_000,
    monotonicMs: () => 0,
    onCut: (why) => void cuts.push(why),
  });
  const events = async (): Promise<[number, string, string][]> => {
    await tape.end();
    const lines = written.join('').trim().split('\n').slice(1);
    return lines.map((line) => JSON.parse(line));
  };
  return { tape, events, written, cuts };
}

t.test('a long output is several events, cut between no bytes of a character', async (t) => {
  const { tape, events, cuts } = setUp();
  const text = 'grüße, 漢字 😀\n'.repeat(20_000);
  tape.output(Buffer.from(text));
  const found = await events();
  t.equal(found.map(([, , part]) => part).join(''), text);
  t.ok(found.length > 4 && found.every(([, , part]) => Buffer.byteLength(part) <= 65_536 + 4));
  t.same(cuts, []);
});

t.test('control bytes in it end the recording where it waits for too much, and no later', async (t) => {
  const { tape, events, written, cuts } = setUp();
  tape.output(Buffer.alloc(2 * 1_048_576));
  t.same(cuts, ['too_fast']);
  await events();
  const bytes = written.reduce((sum, lines) => sum + lines.length, 0);
  t.ok(bytes > 8 * 1_048_576 && bytes < 9 * 1_048_576, `${bytes}`);
});
