import t from 'tap';
import { NEEDED } from '../../src/domain/containers/catalogue.ts';
import { overQuotaReason } from '../../src/domain/containers/disk-quota.ts';
import {
  filledReason,
  layerRemovedReason,
  overLayerReason,
} from '../../src/domain/containers/layer/layer-usage.ts';
import { DEFAULT_ENTRIES } from '../../web/src/api/containers/catalogue.ts';
import { BerthError, fieldFaults } from '../../web/src/api/errors.ts';
import { explain } from '../../web/src/api/explain.ts';
import type { Container, Tier } from '../../web/src/api/types.ts';
import { dayRange } from '../../web/src/lib/format/day-range.ts';
import { keptFacts } from '../../web/src/lib/format/deleted-container-facts.ts';
import {
  exactUse,
  layerSpace,
  shortUse,
  spaceAdvice,
  spaceWarning,
  stoppedAboveMb,
  stoppedForSpace,
  volumeSpace,
} from '../../web/src/lib/format/disk-space.ts';
import {
  ago,
  bytes,
  clockTime,
  cpu,
  diskUse,
  memory,
  plural,
  within,
} from '../../web/src/lib/format/format.ts';
import { presets } from '../../web/src/lib/format/resource-sizes.ts';
import { limitLines } from '../../web/src/lib/format/use-limits.ts';
import { requireWholeNumbers, wholeNumber } from '../../web/src/lib/format/whole-number.ts';
import { isUnlisted, lossLines } from '../../web/src/lib/loss-lines.ts';
import { namesIn, toolsHint } from '../../web/src/lib/role-tools.ts';
import { suggestName } from '../../web/src/lib/suggested-names.ts';
import { plainTitle } from '../../web/src/terminal/titles.ts';

t.test("a title equal to the host name is shown as the workspace's name", async (t) => {
  t.equal(plainTitle('copies.c2be046fc82f4fb5'), 'copies');
  for (const title of ['', 'vim a.c', 'root@copies: ~', 'notes.txt', 'x.c2be046fc82f4fb'])
    t.equal(plainTitle(title), title);
});

const role = (...apt: string[]) => ({ packages: { apk: [], apt } });

t.test("a role's tools are summed up in a short line", async (t) => {
  t.equal(toolsHint(undefined), 'Only what the image includes.');
  t.equal(toolsHint(role()), 'Only what the image includes.');
  t.equal(toolsHint(role('jq')), 'Adds jq.');
  t.equal(toolsHint(role('nodejs', 'npm')), 'Adds nodejs, npm.');
  t.equal(toolsHint(role('ansible-core', 'bind9-dnsutils', 'jq')), 'Adds ansible-core, jq and 1 more.');
  t.equal(toolsHint(role('x'.repeat(60), 'jq')), `Adds ${'x'.repeat(60)} and 1 more.`);
});

t.test('names are separated by any separators', async (t) => {
  t.same(namesIn(' ruby,  ruby-dev\ng++ '), ['ruby', 'ruby-dev', 'g++']);
  t.same(namesIn('  '), []);
});

const NOW = new Date('2026-03-01T12:00:00Z');
const inMinutes = (minutes: number): string => new Date(NOW.getTime() + minutes * 60_000).toISOString();

const deleted = (usedMb: number | null, keptMinutes: number): Container =>
  ({
    volume: { size_mb: 2048, used_mb: usedMb },
    deleted_at: inMinutes(-120),
    kept_until: inMinutes(keptMinutes),
  }) as Container;

t.test('a deleted container shows its size and retention', async (t) => {
  t.match(
    keptFacts(deleted(300, 7 * 1440), NOW),
    /^0\.3 of 2 GB in \/workspace · deleted 2 h ago · kept until /,
  );
  t.match(keptFacts(deleted(null, 7 * 1440), NOW), /^2 GB in/, 'never counted: its size');
  t.match(keptFacts(deleted(0, 40), NOW), /· permanently deleted in 40 min$/, 'as what a guest deletes');
  t.match(keptFacts(deleted(0, -1), NOW), /· about to be permanently deleted$/);
});

t.test('only whole numbers are accepted as numbers', async (t) => {
  t.same(['0', ' 12 ', '0512'].map(wholeNumber), [0, 12, 512]);
  for (const text of ['', ' ', '1.5', '1,200', '-1', '12abc', '1e3', '0x10', '9'.repeat(13)])
    t.ok(Number.isNaN(wholeNumber(text)), text);
});

t.test("a form with a missing number is refused with the field's name", async (t) => {
  requireWholeNumbers({ name: 'x', memory_mb: { min: 1, max: 2 }, layer_mb: 0, note: null });
  const refused = (() => {
    try {
      requireWholeNumbers({ name: 'x', memory_mb: { min: 1, max: Number.NaN }, layer_mb: Number.NaN });
    } catch (error) {
      return error;
    }
  })();
  t.type(refused, BerthError);
  t.same(fieldFaults(refused as BerthError), {
    memory_mb: 'Must be a whole number.',
    layer_mb: 'Must be a whole number.',
  });
});

t.test("a user's limits are shown in plain words", async (t) => {
  const limits = {
    requests_per_minute: 1200,
    max_terminals: 64,
    max_event_sockets: 64,
    max_commands: 0,
    max_uploads: 1,
    max_downloads: 32,
  };
  t.same(
    limitLines(limits).map(({ label, value }) => `${label}: ${value}`),
    [
      'Requests: 1,200 a minute',
      'Open terminals: 64 at once',
      'Open event streams: 64 at once',
      'Running commands: none',
      'Uploads: 1 at once',
      'Downloads: 32 at once',
    ],
  );
  t.equal(limitLines({ ...limits, requests_per_minute: 0 })[0]?.value, 'unlimited');
});

type Box = Pick<Container, 'volume' | 'layer' | 'status'>;

/** A container with a workspace of 1,000 MB and a layer of 2,048 MB. */
const box = (volumeMb: number | null, layerMb: number | null, over: Partial<Box> = {}): Box => ({
  status: 'running',
  volume: { name: 'v', size_mb: 1000, used_mb: volumeMb, quota: 'soft' },
  layer: { limit_mb: 2048, used_mb: layerMb },
  ...over,
});

t.test("a container's use is shown beside its limits", async (t) => {
  t.equal(shortUse(layerSpace(box(0, 120))), '0.1 of 2 GB');
  t.equal(exactUse(layerSpace(box(0, 120))), '120 of 2048 MB');
  t.equal(shortUse(volumeSpace(box(300, 0))), '300 of 1000 MB');
  t.equal(shortUse(layerSpace(box(0, null))), 'up to 2 GB', 'not counted yet');
  t.equal(exactUse(layerSpace(box(0, null))), 'up to 2048 MB');
});

t.test('it warns from nine tenths on, first of what stops the container', async (t) => {
  const cases: [string, Box, string | null][] = [
    ['not counted yet', box(null, null), null],
    ['room in both', box(900, 1843), null],
    ['the layer is nearly full', box(0, 1844), 'layer almost full'],
    ['the layer is full, and that is allowed', box(0, 2048), 'layer almost full'],
    ['the layer is over', box(0, 2049), 'layer over its limit'],
    ['the workspace is nearly full', box(901, 0), 'workspace almost full'],
    ['the workspace is over', box(1001, 1900), 'workspace full'],
    ['both are over', box(1001, 2049), 'layer over its limit'],
  ];
  for (const [name, one, words] of cases) t.equal(spaceWarning(one)?.words ?? null, words, name);
  t.equal(spaceWarning(box(0, 1900))?.isFull, false);
  t.equal(spaceWarning(box(0, 2049))?.isFull, true);
});

t.test('the advice fits what is low, and whether the container runs', async (t) => {
  t.same(spaceAdvice(box(0, 100)), []);
  t.match(spaceAdvice(box(0, 1900))[0], /^Remove packages and files you do not need outside/);
  t.match(spaceAdvice(box(0, 2049, { status: 'stopped' }))[0], /^Start the container and remove/);
  t.match(spaceAdvice(box(950, 0))[0], /^Remove files from \/workspace/);
  t.match(spaceAdvice(box(950, 1900)).at(-1), /larger one/);
  t.match(spaceAdvice(box(1101, 0, { status: 'stopped' }))[0], /^Increase its disk size .*, then start it/);
});

t.test('for a measured volume the limit until the stop is shown', async (t) => {
  t.equal(stoppedAboveMb(box(0, 0)), 1100);
  const { volume, ...rest } = box(0, 0);
  t.equal(stoppedAboveMb({ ...rest, volume: { ...volume, quota: 'hard' } }), null);
});

t.test('a container stopped for its space leads to the remedy, others do not', async (t) => {
  const over = overLayerReason(2049, 2048);
  const reasons = [over, layerRemovedReason(over), filledReason(900), overQuotaReason(1101, 1000)];
  const stopped = { ...box(0, 0), status: 'stopped' };
  for (const status_reason of reasons)
    t.equal(stoppedForSpace({ ...stopped, status_reason }), 'Stopped for its disk use', status_reason);
  t.equal(
    stoppedForSpace({ ...box(0, 2049), status: 'stopped', status_reason: over }),
    'Stopped: layer over its limit',
  );
  for (const status_reason of [null, 'the engine could not start it'])
    t.equal(stoppedForSpace({ ...stopped, status_reason }), null);
  t.equal(stoppedForSpace({ ...box(0, 0), status_reason: over }), null, 'it runs again');
});

const range = (min: number, max: number) => ({ min, max });
const tier = (memory: number, disk: number): Tier => ({
  name: 't',
  memory_mb: range(256, memory),
  cpu_shares: range(100, 2000),
  disk_mb: range(512, disk),
  layer_mb: 2048,
  max_containers: 5,
  max_agents: 2,
  max_snapshots: 5,
  snapshot_mb: 10_240,
  max_ttl_seconds: 0,
  max_idle_seconds: 0,
  requests_per_minute: 1200,
  max_terminals: 64,
  max_event_sockets: 64,
  max_commands: 32,
  max_uploads: 16,
  max_downloads: 32,
});

t.test('suggested sizes are within the tier, end with its maximum, and never repeat', async (t) => {
  for (const each of [tier(2048, 10_240), tier(8192, 51_200), tier(300, 600), tier(256, 512)]) {
    const all = presets(each);
    for (const { resources } of all) {
      for (const key of ['memory_mb', 'cpu_shares', 'disk_mb'] as const) {
        t.ok(resources[key] >= each[key].min && resources[key] <= each[key].max, `${key} ${resources[key]}`);
      }
    }
    t.equal(new Set(all.map(({ resources }) => JSON.stringify(resources))).size, all.length);
    t.match(all.at(-1)?.resources, { memory_mb: each.memory_mb.max, disk_mb: each.disk_mb.max });
  }
  const labels = (each: Tier): readonly string[] => presets(each).map(({ label }) => label);
  t.same(labels(tier(2048, 10_240)), ['Small', 'Medium', 'Large', 'Largest']);
  const guest = { ...tier(512, 2048), cpu_shares: { min: 100, max: 500 } };
  t.same(labels(guest), ['Small', 'Medium', 'Largest'], 'no size is left out of their order');
});

t.test('the words of a refusal count down the time that the service asks to wait', async (t) => {
  const tooMany = new BerthError(429, 'rate_limited', 'too many requests', { retryAfterSeconds: 3 });
  const words = (left?: number) => explain(tooMany, false, left).next;
  t.same([words(), words(2), words(0)], ['Try again in 3 s.', 'Try again in 2 s.', 'Try again now.']);
});

t.test('the page knows which entries of the catalogue cannot be deleted', async (t) => {
  const { tier: tiers, image: images, role: roles } = NEEDED;
  t.same(DEFAULT_ENTRIES, { tiers, images, roles });
});

t.test('a suggested name is valid and free', async (t) => {
  const first = suggestName([], () => 0);
  t.match(first, /^[a-z0-9-]{1,64}$/);
  t.not(
    suggestName([first], () => 0),
    first,
  );
});

t.test('numbers and times are readable', async (t) => {
  t.same([memory(512), memory(1024), memory(1536)], ['512 MB', '1 GB', '1.5 GB']);
  t.same(
    [diskUse(0, 512), diskUse(300, 2048), diskUse(1100, 1024)],
    ['0 of 512 MB', '0.3 of 2 GB', '1.1 of 1 GB'],
  );
  t.same([cpu(1000), cpu(250)], ['1 CPU', '0.25 CPU']);
  t.same(
    [clockTime(0), clockTime(7_400), clockTime(61_000), clockTime(3_723_000)],
    ['0:00', '0:07', '1:01', '1:02:03'],
  );
  t.same([plural(1, 'container'), plural(0, 'container')], ['1 container', '0 containers']);
  const now = new Date('2026-01-02T00:00:00Z');
  const times = [
    '2026-01-01T23:59:50Z',
    '2026-01-01T23:55:00Z',
    '2026-01-01T22:00:00Z',
    '2025-12-30T00:00:00Z',
  ];
  t.same(
    times.map((time) => ago(time, now)),
    ['just now', '5 min ago', '2 h ago', '3 d ago'],
  );
  const inSeconds = (seconds: number): string =>
    within(new Date(now.getTime() + seconds * 1000).toISOString(), now);
  t.same([20, 60, 3569, 3599, 3600, 46_800, 86_399].map(inSeconds), [
    'within a minute',
    'in 1 min',
    'in 59 min',
    'in 1 h',
    'in 1 h',
    'in 13 h',
    'in 1 d',
  ]);
});

t.test('the loss of a recreate is summed up in a few lines', async (t) => {
  const nothing = { packages: [], package_count: 0, files: [], layer_bytes: 0, complete: true };
  t.same(lossLines(nothing), []);
  t.same(lossLines({ ...nothing, complete: false }), ['This list is incomplete.'], 'there may be something');
  t.equal(isUnlisted({ ...nothing, complete: false }), true, 'which a heading would not fit');
  t.equal(isUnlisted(nothing), false);
  t.equal(isUnlisted({ ...nothing, complete: false, package_count: 1 }), false);
  const apt = (name: string, over: object = {}) => ({
    manager: 'apt',
    name,
    version: '1',
    change: 'added',
    automatic: false,
    ...over,
  });
  const place = (path: string, over: object = {}) => ({
    path,
    added: 2,
    changed: 0,
    removed: 0,
    size_bytes: 2048,
    disposable: false,
    ...over,
  });
  const files = [
    place('/opt/tool'),
    place('/etc/issue', { added: 0, removed: 1, size_bytes: null }),
    place('/var/cache', { disposable: true }),
  ];
  const packages = [apt('jq'), apt('vim', { change: 'removed' }), apt('libjq1', { automatic: true })];
  t.same(lossLines({ ...nothing, packages, package_count: 3, files }), [
    'Packages: jq, vim (removed) and 1 more',
    '/opt/tool: 2 added, 2 KB',
    '/etc/issue: 1 removed',
  ]);
  t.same(
    lossLines({ ...nothing, files: [place('/var/cache', { disposable: true })] }),
    [],
    'caches are not missed',
  );
  const many = Array.from({ length: 8 }, (_, n) => place(`/opt/${n}`));
  t.same(lossLines({ ...nothing, files: many, complete: false }).slice(-2), [
    '2 more paths',
    'This list is incomplete.',
  ]);
  t.same([100, 1536, 5 * 1024 ** 2, 3 * 1024 ** 3].map(bytes), ['100 B', '1.5 KB', '5 MB', '3 GB']);
});

t.test("a filter's days go from the first moment of one to the end of the other", async (t) => {
  const { from, to } = dayRange('2026-03-01', '2026-03-31');
  t.equal(new Date(from).getTime(), new Date(2026, 2, 1).getTime());
  t.equal(new Date(to).getTime(), new Date(2026, 3, 1).getTime());
  t.same(dayRange('', '2026'), { from: '', to: '' }, 'what is not there yet is left out');
  t.same(dayRange('0002-03-01', '0020-03-01'), { from: '', to: '' }, 'a year that is being typed');
});
