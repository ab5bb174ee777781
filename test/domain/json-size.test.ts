import t from 'tap';
import { withCarried } from '../../src/domain/carried.ts';
import { type LossReport, lossReport } from '../../src/domain/changes.ts';
import { jsonBytes } from '../../src/domain/json-size.ts';
import { REPORT_JSON_BYTES, shortened } from '../../src/domain/loss-size.ts';

t.test('the size of a text in JSON is that of its JSON', async (t) => {
  const characters = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code));
  const texts = [
    ...characters,
    '',
    'grüße, 漢字 😀\n',
    '\ud800',
    '\udc00x',
    'x\ud83d',
    '\ud83d\ude00\ud83d',
    '\uffff',
  ];
  for (const text of texts)
    t.equal(jsonBytes(text), Buffer.byteLength(JSON.stringify(text)) - 2, JSON.stringify(text));
});

const report = (changes: Partial<LossReport>): LossReport => ({
  packages: [],
  packageCount: 0,
  files: [],
  layerBytes: 0,
  complete: true,
  ...changes,
});
const file = (path: string) => ({ path, added: 1, changed: 0, removed: 0, sizeBytes: 1, disposable: false });

t.test('a report of what would be lost has a size as JSON', async (t) => {
  const usual = report({ files: Array.from({ length: 200 }, (_, at) => file(`/opt/tool-${at}/bin`)) });
  t.equal(shortened(usual), usual);
  const nasty = Array.from({ length: 200 }, (_, at) => file(`/${at}/${'\u0001'.repeat(4000)}`));
  const short = shortened(report({ files: [...nasty, ...usual.files] }));
  t.ok(Buffer.byteLength(JSON.stringify(short)) < REPORT_JSON_BYTES * 1.1);
  t.equal(short.complete, false);
  t.ok(short.files.length > 100, 'short rows come behind the long ones that do not fit');
  t.equal(short.packageCount, 0);
});

t.test('so has one that a container makes, and one that is joined with what was carried over', async (t) => {
  const path = (at: number): string => `/etc/x${at}/${'\u0002'.repeat(3000)}`;
  const paths = Array.from({ length: 150 }, (_, at) => path(at));
  const found = lossReport({
    paths: paths.map((each) => ({ path: each, kind: 'added', sizeBytes: 1, isFolder: false })),
    complete: true,
    layerBytes: 1,
    debian: [{ name: 'jq', version: '\u0003'.repeat(1_000_000), automatic: false, files: [] }],
  });
  t.equal(found.complete, false);
  t.ok(Buffer.byteLength(JSON.stringify(found)) < REPORT_JSON_BYTES * 1.1);
  const other = { ...found, files: found.files.map((each) => ({ ...each, path: `/other${each.path}` })) };
  const joined = withCarried(found, { image: 'x', changes: other });
  t.equal(joined.complete, false);
  t.ok(Buffer.byteLength(JSON.stringify(joined)) < REPORT_JSON_BYTES * 1.1);
});
