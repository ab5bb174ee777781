import t from 'tap';
import { StartReport } from '../../../../src/adapters/kubernetes/exec/start-report.ts';

const BEGIN = Buffer.from('<started>');
const OUTPUT = Buffer.from('an echo with <start; and <started>42:1234;and what follows');

t.test('a report is found wherever the output is cut', (t) => {
  for (const size of [1, 2, 7, OUTPUT.length]) {
    const report = new StartReport(BEGIN);
    let at = 0;
    let found: ReturnType<StartReport['find']> = null;
    for (; found === null && at < OUTPUT.length; at += size)
      found = report.find(OUTPUT.subarray(at, at + size));
    t.same(found?.process, { pid: '42', startedAt: '1234' }, `pieces of ${size}`);
    t.equal(`${found?.rest}${OUTPUT.subarray(at)}`, 'and what follows');
  }
  t.end();
});

t.test('output of megabytes without a report has none', (t) => {
  const report = new StartReport(BEGIN);
  const piece = Buffer.alloc(1_048_576, 'x');
  for (let count = 0; count < 4; count += 1) {
    t.equal(report.find(piece), null);
    t.notOk(report.isMissing);
  }
  t.equal(report.find(Buffer.from('x')), null);
  t.ok(report.isMissing);
  t.end();
});
