import t from 'tap';
import { decideCopy, shownText, sizeText } from '../../web/src/terminal/program-copy.ts';

const request = { selection: 'c', text: 'rm -rf ~\n', isOwner: true, isAllowed: false };

t.test('a program copies nothing unasked, unless its user allows it', async (t) => {
  t.equal(decideCopy(request), 'ask');
  t.equal(decideCopy({ ...request, isAllowed: true }), 'write');
  for (const selection of ['', 'c', 'pc', 'c0'])
    t.equal(decideCopy({ ...request, selection }), 'ask', selection);
  for (const selection of ['p', 's', '0', 'q7'])
    t.equal(decideCopy({ ...request, selection, isAllowed: true }), 'ignore', selection);
  t.equal(
    decideCopy({ ...request, text: '', isAllowed: true }),
    'ignore',
    'nothing clears what was copied before',
  );
});

t.test("the owner's programs reach no clipboard of who looks at the terminal", async (t) => {
  for (const isAllowed of [false, true])
    t.equal(decideCopy({ ...request, isOwner: false, isAllowed }), 'ignore');
});

t.test('what is shown hides nothing', async (t) => {
  t.equal(shownText('ls\tx\nécole 漢字 😀'), 'ls\tx\nécole 漢字 😀');
  t.equal(
    shownText('a\u202eb\u200bc\x1b[8md\0\u2028e\u{e0061}'),
    'a<202E>b<200B>c<001B>[8md<0000><2028>e<E0061>',
  );
  t.equal(shownText('one\r\ntwo\rthree'), 'one\ntwo\nthree');
  t.equal(shownText('x'.repeat(500)), `${'x'.repeat(400)}…`);
  t.equal(sizeText('x'), '1 character');
  t.equal(sizeText(`${'x'.repeat(1_200)}\n`), '1,201 characters, a line break at its end');
  t.equal(sizeText('a\nb'), '2 lines, 3 characters');
});
