import fc from 'fast-check';
import t from 'tap';
import { continuesInput, resumeFrom, takeInput, withoutQuestions } from '../../src/domain/terminal-resume.ts';

t.test('a client gets what it misses, or a redraw when that is gone', async (t) => {
  const held = { start: 100, end: 900 };
  for (const after of [100, 500, 900]) t.same(resumeFrom(held, after), { offset: after, redraw: false });
  for (const after of [0, 99, 901, 2 ** 53]) t.same(resumeFrom(held, after), { offset: 100, redraw: true });
  t.same(resumeFrom(held, null), { offset: 100, redraw: true }, 'nothing seen, much to see');
  t.same(resumeFrom({ start: 0, end: 0 }, null), { offset: 0, redraw: false }, 'a new one');
});

t.test('input that is sent again is taken once, wherever the client begins', async (t) => {
  t.same(takeInput(10, 10, 5), { known: 0, received: 15, position: 15 });
  t.same(takeInput(10, 4, 5), { known: 5, received: 10, position: 9 });
  t.same(takeInput(10, 8, 5), { known: 2, received: 13, position: 13 });
  t.ok(continuesInput(10, 10));
  t.ok(continuesInput(10, 0));
  t.notOk(continuesInput(10, 11), 'a gap');
  const typed = Buffer.from(Array.from({ length: 400 }, (_, at) => at % 256));
  const restarts = fc.array(
    fc.tuple(fc.nat(400), fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 8 })),
  );
  fc.assert(
    fc.property(restarts, (lines) => {
      let taken = Buffer.alloc(0);
      for (const [from, frames] of lines) {
        let position = Math.min(from, taken.length);
        for (const bytes of frames) {
          const frame = typed.subarray(position, position + bytes);
          const next = takeInput(taken.length, position, frame.length);
          taken = Buffer.concat([taken, frame.subarray(next.known)]);
          position = next.position;
          if (taken.length !== next.received) return false;
        }
      }
      return taken.equals(typed.subarray(0, taken.length));
    }),
  );
});

t.test('questions in old output are not asked again, and nothing moves', async (t) => {
  const ESC = '\x1b';
  for (const question of [
    '\x05',
    `${ESC}[c`,
    `${ESC}[>0c`,
    `${ESC}[6n`,
    `${ESC}[?6n`,
    `${ESC}[?2026$p`,
    `${ESC}[>q`,
    `${ESC}[?u`,
    `${ESC}[18t`,
    `${ESC}]11;?\x07`,
    `${ESC}]4;1;?${ESC}\\`,
    `${ESC}]52;c;?\x07`,
    `${ESC}P+q544e${ESC}\\`,
    `${ESC}P$qm${ESC}\\`,
  ]) {
    const shown = withoutQuestions(Buffer.from(`a${question}é`));
    t.equal(shown.toString(), `a${'\0'.repeat(question.length)}é`, JSON.stringify(question));
  }
  for (const kept of [
    `${ESC}[31mred${ESC}[0m`,
    `${ESC}[2;5H${ESC}[2J`,
    `${ESC}]0;a title?\x07`,
    `${ESC}[2 q`,
    `${ESC}[u`,
    `${ESC}[?25h`,
    `${ESC}[8;24;80t`,
    'plain [c n text',
  ]) {
    t.equal(withoutQuestions(Buffer.from(kept)).toString(), kept, JSON.stringify(kept));
  }
  const any = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
  t.equal(withoutQuestions(any).length, any.length, 'also of bytes that are no text');
});

t.test('every question is filled, not only the first', async (t) => {
  t.equal(String(withoutQuestions(Buffer.from('\x05a\x05'))), '\0a\0');
});
