import t from 'tap';
import { withLayerImage } from '../../../../src/domain/containers/layer/carry-over.ts';
import {
  type DebianPackage,
  debianNames,
  type LayerChanges,
  type PackageChange,
  type PathChange,
} from '../../../../src/domain/containers/layer/layer-changes.ts';
import {
  type FileGroup,
  type LossReport,
  lossReport,
  MAX_ROWS,
} from '../../../../src/domain/containers/layer/loss-report.ts';
import { REPORT_JSON_BYTES, shortened } from '../../../../src/domain/containers/layer/loss-report-size.ts';
import { jsonBytes } from '../../../../src/domain/json-size.ts';
import { valuesOf } from '../../../support/values.ts';

const path = (path: string, kind: PathChange['kind'], sizeBytes: number | null = null): PathChange => {
  return { path, kind, sizeBytes, isFolder: false };
};
const added = (name: string, sizeBytes: number | null = null) => path(name, 'added', sizeBytes);
const changed = (name: string) => path(name, 'changed');
const removed = (name: string) => path(name, 'removed');
const folder = (name: string): PathChange => ({ ...path(name, 'changed', 4096), isFolder: true });

const layer = (paths: readonly PathChange[], debian: LayerChanges['debian'] = null): LayerChanges => {
  return { paths, debian, complete: true, layerBytes: 1 };
};

const rows = (paths: readonly PathChange[]) =>
  lossReport(layer(paths)).files.map(({ path, added, changed, removed, disposable }) =>
    [path, added, changed, removed, ...(disposable ? ['disposable'] : [])].join(' '),
  );

t.test('files are grouped by folder', async (t) => {
  const table: readonly (readonly [string, readonly PathChange[], readonly string[]])[] = [
    ['nothing', [], []],
    [
      'a single file has its own row',
      [folder('/etc'), added('/etc/nginx/nginx.conf')],
      ['/etc/nginx/nginx.conf 1 0 0'],
    ],
    ['files of one folder', [added('/etc/a'), changed('/etc/b'), removed('/etc/c')], ['/etc 1 1 1']],
    ['two levels', [added('/opt/x/1/2/a'), added('/opt/x/b')], ['/opt/x 2 0 0']],
    [
      'three below /usr/local',
      [added('/usr/local/lib/a'), added('/usr/local/lib/b')],
      ['/usr/local/lib 2 0 0'],
    ],
    ['in the root', [added('/a'), added('/b')], ['/ 2 0 0']],
    ['folders are not counted', [folder('/opt'), folder('/opt/x'), added('/opt/x/f')], ['/opt/x/f 1 0 0']],
    [
      'nor those whose kind is unknown',
      [added('/opt/x'), added('/opt/x/y'), added('/opt/x/y/f')],
      ['/opt/x/y/f 1 0 0'],
    ],
    ['the volume', [added('/workspace/a'), changed('/workspace')], []],
    [
      'what the engine writes',
      ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/.dockerenv', '/sbin/docker-init'].map(changed),
      [],
    ],
    ['mounts', [added('/dev/x'), added('/proc/x'), added('/sys/x')], []],
    ['looks alike', [added('/devices')], ['/devices 1 0 0']],
    [
      'caches come last',
      [added('/tmp/a'), added('/tmp/b/c'), added('/run/x'), added('/opt/a/b')],
      ['/opt/a/b 1 0 0', '/tmp 2 0 0 disposable', '/run 1 0 0 disposable'],
    ],
    ['a cache of somebody', [added('/home/ada/.cache/a/b')], ['/home/ada/.cache 1 0 0 disposable']],
    ['compiled Python', [added('/usr/lib/python3/x/__pycache__/a.pyc')], ['**/__pycache__ 1 0 0 disposable']],
  ];
  for (const [words, paths, expected] of table) t.same(rows(paths), expected, words);
});

t.test('the largest come first, and unknown sizes stay unknown', async (t) => {
  const { files } = lossReport(
    layer([added('/opt/s/a', 10), added('/opt/b/a', 500), added('/opt/b/c', 7), added('/srv/x')]),
  );
  t.same(
    files.map(({ path, sizeBytes }) => [path, sizeBytes]),
    [
      ['/opt/b', 507],
      ['/opt/s/a', 10],
      ['/srv/x', null],
    ],
  );
});

t.test('a report stays short and counts everything', async (t) => {
  const many = (count: number, path: (index: number) => string): PathChange[] =>
    Array.from({ length: count }, (_, index) => added(path(index), 1));
  const trees: readonly (readonly PathChange[])[] = [
    many(5000, (index) => `/opt/${index}/file`),
    many(5000, (index) => `/${index}/x/file`),
    many(100_000, (index) => `/a${index % 1000}/b${index % 317}/c${index}`),
    [...many(150, (index) => `/opt/${index}/f`), ...many(150, (index) => `/srv/${index}/f`)],
  ];
  for (const tree of trees) {
    const { files } = lossReport(layer(tree));
    t.ok(files.length <= MAX_ROWS, `${files.length} rows`);
    t.equal(
      files.reduce((sum, row) => sum + row.added, 0),
      tree.length,
    );
    t.equal(
      files.reduce((sum, row) => sum + (row.sizeBytes ?? 0), 0),
      tree.length,
    );
  }
  t.same(rows(many(201, (index) => `/opt/${index}/f`)), ['/opt 201 0 0']);
  const beside = [...many(201, (index) => `/var/x${index}/f`), added('/var/cache/apt/a')];
  t.same(rows(beside), ['/var 202 0 0'], 'what is joined with more than caches is none');
});

t.test('regenerated files are disposable', async (t) => {
  const folders = [
    'tmp',
    'run',
    'var/tmp',
    'var/cache',
    'var/log',
    'var/lib/apt',
    'var/lib/dpkg',
    'var/lib/systemd',
  ];
  for (const folder of folders) t.same(rows([added(`/${folder}/a/b`)]), [`/${folder} 1 0 0 disposable`]);
  t.same(rows([changed('/etc/ld.so.cache')]), ['/etc/ld.so.cache 0 1 0 disposable']);
});

t.test('without sizes, rows with more files come first', async (t) => {
  const [more, less] = ['z', 'b'].map((name) => [1, 2, 3].map((at) => added(`/opt/${name}/${at}`)));
  const four = [...(more ?? []).slice(0, 1), ...[4, 5, 6].map((at) => changed(`/opt/z/${at}`))];
  for (const paths of [
    [...four, ...(less ?? [])],
    [...(less ?? []), ...four],
  ])
    t.same(rows(paths), ['/opt/z 1 3 0', '/opt/b 3 0 0']);
  const same = ['z', 'b', 'y'].flatMap((name) => [1, 2, 3].map((at) => added(`/opt/${name}/${at}`)));
  t.same(rows(same), ['/opt/b 3 0 0', '/opt/y 3 0 0', '/opt/z 3 0 0'], 'and of as many the first by name');
});

t.test("Debian packages are recognised by dpkg's files", async (t) => {
  const books = [
    added('/var/lib/dpkg/info/jq.list'),
    added('/var/lib/dpkg/info/libjq1:amd64.list'),
    added('/var/lib/dpkg/info/jq.md5sums'),
    changed('/var/lib/dpkg/info/bash.list'),
    removed('/var/lib/dpkg/info/nano.list'),
    added('/var/lib/dpkg/info/$(id).list'),
    added('/opt/var/lib/dpkg/info/other.list'),
  ];
  t.same(
    [...debianNames(books)],
    [
      ['jq', 'added'],
      ['libjq1', 'added'],
      ['bash', 'updated'],
      ['nano', 'removed'],
    ],
  );
  t.match(lossReport(layer(books)).packages, [
    { manager: 'apt', name: 'bash', version: null, change: 'updated' },
    { name: 'jq', change: 'added' },
    { name: 'libjq1', change: 'added' },
    { name: 'nano', change: 'removed' },
  ]);
});

t.test('a running container adds versions, dependencies and file owners', async (t) => {
  const jq: DebianPackage = {
    name: 'jq',
    version: '1.6-2',
    automatic: false,
    files: ['/.', '/usr', '/usr/bin', '/usr/bin/jq', '/lib/x/libjq.so'],
  };
  const came: DebianPackage = { name: 'aaa', version: '1', automatic: true, files: [] };
  const paths = [
    added('/var/lib/dpkg/info/aaa.list'),
    added('/var/lib/dpkg/info/jq.list'),
    added('/var/lib/dpkg/info/purged.list'),
    removed('/var/lib/dpkg/info/nano.list'),
    added('/usr/bin/jq', 100),
    added('/usr/lib/x/libjq.so', 100),
    added('/usr/bin/mine', 5),
  ];
  const report = lossReport(layer(paths, [came, jq]));
  t.same(report.packages, [
    { manager: 'apt', name: 'jq', version: '1.6-2', change: 'added', automatic: false },
    { manager: 'apt', name: 'nano', version: null, change: 'removed', automatic: false },
    { manager: 'apt', name: 'aaa', version: '1', change: 'added', automatic: true },
  ]);
  t.match(report.files, [
    { path: '/usr/bin/mine', sizeBytes: 5 },
    { path: '/var/lib/dpkg', disposable: true },
  ]);
});

t.test('global installations of pip and npm are named', async (t) => {
  const paths = [
    added('/usr/local/lib/python3.11/dist-packages/requests-2.31.0.dist-info/METADATA'),
    added('/usr/local/lib/python3.11/dist-packages/requests/api.py'),
    added('/usr/lib/python3/dist-packages/six-1.16.0.dist-info/METADATA'),
    added('/usr/local/lib/node_modules/typescript/package.json'),
    added('/usr/local/lib/node_modules/@scope/tool/package.json'),
    added('/usr/local/lib/node_modules/typescript/node_modules/inner/package.json'),
    added('/opt/app/node_modules/left-pad/package.json'),
  ];
  t.same(
    lossReport(layer(paths)).packages.map(({ manager, name, version }) => [manager, name, version]),
    [
      ['npm', '@scope/tool', null],
      ['pip', 'requests', '2.31.0'],
      ['npm', 'typescript', null],
    ],
  );
});

t.test('many packages are counted, and the list is cut', async (t) => {
  const paths = Array.from({ length: 500 }, (_, index) => added(`/var/lib/dpkg/info/p${index}.list`));
  const { packages, packageCount } = lossReport(layer(paths));
  t.same([packages.length, packageCount], [MAX_ROWS, 500]);
});

const NOTHING: LossReport = { packages: [], packageCount: 0, files: [], layerBytes: 0, complete: true };
const report = (over: Partial<LossReport> = {}): LossReport => {
  return { ...NOTHING, packageCount: over.packages?.length ?? 0, ...over };
};
const apt = (name: string, change: PackageChange['change'] = 'added', version = '1'): PackageChange => {
  return { manager: 'apt', name, version, change, automatic: false };
};
const group = (path: string, added: number, sizeBytes: number | null = added * 100): FileGroup => {
  return { path, added, changed: 0, removed: 0, sizeBytes, disposable: false };
};
const carried = (changes: LossReport | null) => ({ image: 'berth/carried:g2', changes });

t.test('without a carry-over the report is unchanged', async (t) => {
  const now = report({ packages: [apt('jq')], layerBytes: 7 });
  t.equal(withLayerImage(now, null), now);
});

t.test('carried-over and newer changes make one report', async (t) => {
  const before = report({
    packages: [apt('jq'), apt('zsh')],
    files: [group('/usr/local/bin', 2), group('/opt/tool', 9)],
    layerBytes: 1000,
  });
  const now = report({ packages: [apt('git')], files: [group('/usr/local/bin', 1)], layerBytes: 50 });
  const full = withLayerImage(now, carried(before));
  t.same(valuesOf(full.packages, 'name'), ['git', 'jq', 'zsh']);
  t.equal(full.packageCount, 3);
  t.same(full.files, [group('/opt/tool', 9), group('/usr/local/bin', 3)]);
  t.equal(full.layerBytes, 1050);
  t.ok(full.complete);
});

t.test('of two changes to a package the later counts', async (t) => {
  const cases: [string, PackageChange, PackageChange, readonly PackageChange[]][] = [
    ['came and went', apt('jq'), apt('jq', 'removed'), []],
    ['came and was updated', apt('jq'), apt('jq', 'updated', '2'), [apt('jq', 'added', '2')]],
    ['went and came back', apt('jq', 'removed'), apt('jq'), [apt('jq')]],
    ['was updated and went', apt('jq', 'updated'), apt('jq', 'removed'), [apt('jq', 'removed')]],
  ];
  for (const [name, first, second, packages] of cases) {
    const full = withLayerImage(report({ packages: [second] }), carried(report({ packages: [first] })));
    t.same(full.packages, packages, name);
    t.equal(full.packageCount, packages.length);
  }
});

t.test('unknown parts are reported as unknown', async (t) => {
  t.match(withLayerImage(report(), carried(null)), { complete: false });
  t.match(withLayerImage(report(), carried(report({ complete: false }))), { complete: false });
  t.match(withLayerImage(report({ layerBytes: null }), carried(report())), { layerBytes: null });
  const unmeasured = report({ files: [group('/opt', 1, null)] });
  t.match(withLayerImage(unmeasured, carried(unmeasured)).files, [{ added: 2, sizeBytes: null }]);
});

t.test('a joined report stays short, and counts what it omits', async (t) => {
  const many = (word: string) =>
    report({
      packages: Array.from({ length: MAX_ROWS }, (_, n) => apt(`${word}${n}`)),
      packageCount: MAX_ROWS + 5,
      files: Array.from({ length: MAX_ROWS }, (_, n) => group(`/opt/${word}${n}`, 1)),
    });
  const full = withLayerImage(many('a'), carried(many('b')));
  t.equal(full.packages.length, MAX_ROWS);
  t.equal(full.packageCount, 2 * MAX_ROWS + 10);
  t.equal(full.files.length, MAX_ROWS);
  t.notOk(full.complete);
});

t.test('the JSON size of a text is exact', async (t) => {
  const characters = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code));
  const halves = ['\ud800', '\ud83dx', '\udc00x', 'x\ud83d', '\ud83d\ude00\ud83d', '\uffff'];
  for (const text of [...characters, '', 'grüße, 漢字 😀\n', ...halves])
    t.equal(jsonBytes(text), Buffer.byteLength(JSON.stringify(text)) - 2, JSON.stringify(text));
});

const bytesOf = (report: LossReport): number => Buffer.byteLength(JSON.stringify(report));

t.test("a loss report's JSON is limited", async (t) => {
  const usual = report({ files: Array.from({ length: 200 }, (_, at) => group(`/opt/tool-${at}/bin`, 1)) });
  t.equal(shortened(usual), usual);
  const nasty = Array.from({ length: 200 }, (_, at) => group(`/${at}/${'\u0001'.repeat(4000)}`, 1));
  const short = shortened(report({ files: [...nasty, ...usual.files] }));
  t.ok(bytesOf(short) < REPORT_JSON_BYTES * 1.1);
  t.equal(short.complete, false);
  t.ok(short.files.length > 100, 'short rows come behind the long ones that do not fit');
  t.equal(short.packageCount, 0);
});

t.test("a container's own and a joined report are limited too", async (t) => {
  const paths = Array.from({ length: 150 }, (_, at) => added(`/etc/x${at}/${'\u0002'.repeat(3000)}`, 1));
  const jq = { name: 'jq', version: '\u0003'.repeat(1_000_000), automatic: false, files: [] };
  const found = lossReport(layer(paths, [jq]));
  t.equal(found.complete, false);
  t.ok(bytesOf(found) < REPORT_JSON_BYTES * 1.1);
  const other = { ...found, files: found.files.map((each) => ({ ...each, path: `/other${each.path}` })) };
  const joined = withLayerImage(found, { image: 'x', changes: other });
  t.equal(joined.complete, false);
  t.ok(bytesOf(joined) < REPORT_JSON_BYTES * 1.1);
});
