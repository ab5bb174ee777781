import t from 'tap';
import { withCarried } from '../../src/domain/carried.ts';
import { type FileGroup, type LossReport, MAX_ROWS } from '../../src/domain/changes.ts';
import type { PackageChange } from '../../src/domain/layer.ts';

const report = (over: Partial<LossReport> = {}): LossReport => ({
  packages: [],
  packageCount: over.packages?.length ?? 0,
  files: [],
  layerBytes: 0,
  complete: true,
  ...over,
});
const apt = (name: string, change: PackageChange['change'] = 'added', version = '1'): PackageChange => ({
  manager: 'apt',
  name,
  version,
  change,
  automatic: false,
});
const folder = (path: string, added: number, sizeBytes: number | null = added * 100): FileGroup => ({
  path,
  added,
  changed: 0,
  removed: 0,
  sizeBytes,
  disposable: false,
});
const carried = (changes: LossReport | null) => ({ image: 'berth/carried:g2', changes });

t.test('where nothing was carried over the report stays as it is', async (t) => {
  const now = report({ packages: [apt('jq')], layerBytes: 7 });
  t.equal(withCarried(now, null), now);
});

t.test('what was carried over and what came since are one report', async (t) => {
  const before = report({
    packages: [apt('jq'), apt('zsh')],
    files: [folder('/usr/local/bin', 2), folder('/opt/tool', 9)],
    layerBytes: 1000,
  });
  const now = report({ packages: [apt('git')], files: [folder('/usr/local/bin', 1)], layerBytes: 50 });
  const whole = withCarried(now, carried(before));
  t.same(
    whole.packages.map(({ name }) => name),
    ['git', 'jq', 'zsh'],
  );
  t.equal(whole.packageCount, 3);
  t.same(whole.files, [folder('/opt/tool', 9), folder('/usr/local/bin', 3)]);
  t.equal(whole.layerBytes, 1050);
  t.ok(whole.complete);
});

t.test('of a package the later word holds', async (t) => {
  const cases: [string, PackageChange, PackageChange, readonly PackageChange[]][] = [
    ['came and went', apt('jq'), apt('jq', 'removed'), []],
    ['came and was updated', apt('jq'), apt('jq', 'updated', '2'), [apt('jq', 'added', '2')]],
    ['went and came back', apt('jq', 'removed'), apt('jq'), [apt('jq')]],
    ['was updated and went', apt('jq', 'updated'), apt('jq', 'removed'), [apt('jq', 'removed')]],
  ];
  for (const [name, first, second, packages] of cases) {
    const whole = withCarried(report({ packages: [second] }), carried(report({ packages: [first] })));
    t.same(whole.packages, packages, name);
    t.equal(whole.packageCount, packages.length);
  }
});

t.test('what is not known is said', async (t) => {
  t.match(withCarried(report(), carried(null)), { complete: false });
  t.match(withCarried(report(), carried(report({ complete: false }))), { complete: false });
  t.match(withCarried(report({ layerBytes: null }), carried(report())), { layerBytes: null });
  const unmeasured = report({ files: [folder('/opt', 1, null)] });
  t.match(withCarried(unmeasured, carried(unmeasured)).files, [{ added: 2, sizeBytes: null }]);
});

t.test('it stays short, and counts what it leaves out', async (t) => {
  const many = (word: string) =>
    report({
      packages: Array.from({ length: MAX_ROWS }, (_, n) => apt(`${word}${n}`)),
      packageCount: MAX_ROWS + 5,
      files: Array.from({ length: MAX_ROWS }, (_, n) => folder(`/opt/${word}${n}`, 1)),
    });
  const whole = withCarried(many('a'), carried(many('b')));
  t.equal(whole.packages.length, MAX_ROWS);
  t.equal(whole.packageCount, 2 * MAX_ROWS + 10);
  t.equal(whole.files.length, MAX_ROWS);
  t.notOk(whole.complete);
});
