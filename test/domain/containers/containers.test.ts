import t from 'tap';
import { commandFaults } from '../../../src/domain/containers/command.ts';
import {
  type Container,
  decideOrphan,
  laterOf,
  nameFaults,
  type Observation,
  syncedState,
  volumeName,
} from '../../../src/domain/containers/container.ts';
import { parseContainerRef } from '../../../src/domain/containers/container-ref.ts';
import { envFaults } from '../../../src/domain/containers/environment.ts';
import { FILE_LIMITS, parseFilePath, parseTarget, pathText } from '../../../src/domain/containers/files.ts';
import { defaultResources, resourceFaults, withinTier } from '../../../src/domain/containers/resources.ts';
import { keptUntil, volumeDue } from '../../../src/domain/containers/volume-retention.ts';
import { isUuid } from '../../../src/domain/uuid.ts';
import { aContainer, aTier } from '../../support/samples/samples.ts';

const now = new Date('2026-01-02T00:00:00Z');
const running: Observation = { kind: 'running' };
const stopped: Observation = { kind: 'stopped' };
const paused: Observation = { kind: 'paused' };
const gone: Observation = { kind: 'gone', volumeExists: false };

t.test("a row settles on the engine's state, and a second pass changes nothing", async (t) => {
  const cases: [Container['state'], Observation, Container['state'] | null][] = [
    ['running', running, null],
    ['running', stopped, 'stopped'],
    ['running', paused, 'stopped'],
    ['stopped', paused, null],
    ['running', gone, 'stopped'],
    ['creating', running, 'running'],
    ['creating', gone, 'stopped'],
    ['starting', stopped, 'stopped'],
    ['stopping', running, 'running'],
    ['failed', stopped, null],
    ['failed', running, 'running'],
    ['deleted', running, null],
  ];
  for (const [state, seen, expected] of cases) {
    const settled = syncedState(aContainer({ state }), seen);
    t.equal(settled, expected, `${state}, ${seen.kind}`);
    if (settled !== null)
      t.equal(syncedState(aContainer({ state: settled }), seen), null, 'settled stays settled');
  }
});

t.test('a container name is 1 to 64 letters, digits and hyphens', async (t) => {
  for (const name of ['a', 'A-1', '-', 'x'.repeat(64)]) t.same(nameFaults(name), {}, name);
  for (const name of ['', 'x'.repeat(65), 'a b', 'a_b', 'ä', 'a\n', '../x']) {
    t.match(nameFaults(name), { name: String }, JSON.stringify(name));
  }
});

t.test('the environment has shell names, no NUL, and at most 32 KiB', async (t) => {
  t.same(envFaults({ PATH_2: 'x', _: '' }), {});
  t.match(envFaults({ '2x': 'y' }), { env: String });
  t.match(envFaults({ 'A=B': 'y' }), { env: String });
  t.match(envFaults({ A: 'a\0b' }), { env: String });
  t.same(envFaults({ A: 'x'.repeat(32_767) }), {});
  t.match(envFaults({ A: 'x'.repeat(32_768) }), { env: String });
  for (const name of ['', 'A B', 'A\nB', 'A\0']) t.match(envFaults({ [name]: 'y' }), { env: String }, name);
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`A${at}`, '']));
  t.same(envFaults(named(512)), {});
  t.match(envFaults(named(513)), { env: String });
});

t.test("a command has at most 128 KiB of arguments, and a container's environment limits", async (t) => {
  const arguments_ = (count: number) => Array.from({ length: count }, () => 'x'.repeat(1023));
  t.same(commandFaults({ command: arguments_(128) }), {});
  t.same(commandFaults({ command: [...arguments_(128), ''] }), { command: 'must be at most 128 KiB in all' });
  t.match(commandFaults({ command: ['true'], env: { 'A=B': '' } }), { env: String });
});

t.test('the volume is named by the id, so a rename keeps the data', async (t) => {
  t.equal(volumeName('6f0d1d6e-0000-4000-8000-000000000000'), 'ws-6f0d1d6e-0000-4000-8000-000000000000');
});

t.test('an id in a path is a UUID, 12 to 64 hex digits or an agent; all else is unknown', async (t) => {
  const uuid = '6f0d1d6e-0000-4000-8000-00000000000a';
  t.same([uuid, `${uuid}0`, uuid.slice(1)].map(isUuid), [true, false, false]);
  t.same(parseContainerRef(uuid.toUpperCase()), { kind: 'db_id', dbId: uuid });
  t.same(parseContainerRef('0123456789ab'), { kind: 'runtime_id', prefix: '0123456789ab' });
  t.same(parseContainerRef(`agent:${uuid}`), { kind: 'agent', agentId: uuid });
  for (const id of [
    '',
    '0123456789a',
    'a'.repeat(65),
    'my-name',
    `x${uuid}`,
    'agent:x',
    `other:${uuid}`,
    "'; drop",
    '0123456789AB%',
  ]) {
    t.equal(parseContainerRef(id), null, JSON.stringify(id));
  }
});

t.test('an engine container is removed when its row is deleted, or after an unclaimed hour', async (t) => {
  const one = { runtimeId: 'a'.repeat(64), generation: 3 };
  const other = 'b'.repeat(64);
  const hourAgo = new Date(now.getTime() - 3_600_000);
  const running = { state: 'running', runtimeId: one.runtimeId, generation: 3 } as const;
  const deleted = { ...running, state: 'deleted' } as const;
  const cases: [string, Parameters<typeof decideOrphan>, string][] = [
    ['its row points at it', [one, running, false, null, now], 'keep'],
    ['its row points at it later', [one, { ...running, state: 'stopped' }, false, hourAgo, now], 'keep'],
    ['an operation is at work', [one, null, true, hourAgo, now], 'keep'],
    ['its row is deleted', [one, deleted, false, null, now], 'remove'],
    ['and was made before', [one, { ...deleted, generation: 4 }, false, null, now], 'remove'],
    [
      'its row is deleted in an older database',
      [one, { ...deleted, generation: 2 }, false, null, now],
      'quarantine',
    ],
    ['for an hour', [one, { ...deleted, generation: 2 }, false, hourAgo, now], 'remove'],
    ['its row has another', [one, { ...running, runtimeId: other }, false, null, now], 'quarantine'],
    ['no row', [one, null, false, null, now], 'quarantine'],
    ['no row, seen lately', [one, null, false, new Date(hourAgo.getTime() + 1), now], 'quarantine'],
    ['no row for an hour', [one, null, false, hourAgo, now], 'remove'],
    [
      'none for an hour',
      [one, { ...running, state: 'stopped', runtimeId: null }, false, hourAgo, now],
      'remove',
    ],
  ];
  for (const [name, args, expected] of cases) t.equal(decideOrphan(...args), expected, name);
});

t.test(
  'the last container that was made after the row was takes the place of one that is gone',
  async (t) => {
    const of = (...generations: number[]) =>
      laterOf(
        { generation: 3 },
        generations.map((generation) => ({ generation })),
      );
    t.same([of(), of(1), of(2, 3)], [null, null, null]);
    t.same([of(4), of(3, 6, 2, 5)], [{ generation: 4 }, { generation: 6 }]);
  },
);

const inside = { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 };

t.test('resources within the tier are accepted, and every other value is named', async (t) => {
  t.same(withinTier(inside, aTier()), { ok: true, value: inside });
  t.same(resourceFaults({ memoryMb: 256, cpuMillicores: 2000, diskMb: 10_240 }, aTier()), {}, 'its ends');
  const result = withinTier({ memoryMb: 255, cpuMillicores: 2001, diskMb: 0.5 }, aTier());
  t.match(result, { ok: false, error: { code: 'validation_failed' } });
  t.same(Object.keys(result.ok ? {} : result.error.fields), ['memoryMb', 'cpuMillicores', 'diskMb']);
  for (const memoryMb of [Number.NaN, Number.POSITIVE_INFINITY, 512.5, -512])
    t.match(resourceFaults({ ...inside, memoryMb }, aTier()), { memoryMb: String }, String(memoryMb));
});

t.test('the default resources are a quarter of the tier, within its range', async (t) => {
  for (const [min, max, memoryMb] of [
    [256, 256, 256],
    [256, 512, 256],
    [256, 8192, 2048],
    [64, 1024, 256],
    [512, 1024, 512],
  ] as const) {
    const tier = aTier({ memoryMb: { min, max } });
    t.equal(defaultResources(tier).memoryMb, memoryMb);
    t.same(resourceFaults(defaultResources(tier), tier), {}, `${min} to ${max} MB`);
  }
});

const NOW = new Date('2026-03-01T00:00:00Z');
const hoursAgo = (hours: number): Date => new Date(NOW.getTime() - hours * 3_600_000);

t.test('a volume is condemned after its retention, and removed a day later', async (t) => {
  const cases: [string, number, number | null, number, ReturnType<typeof volumeDue>][] = [
    // name, hours since the delete, hours since the condemnation, retention in days
    ['just deleted', 0, null, 7, 'nothing'],
    ['a moment before its time', 7 * 24 - 0.001, null, 7, 'nothing'],
    ['at its time', 7 * 24, null, 7, 'condemn'],
    ['long after, with the service down meanwhile', 90 * 24, null, 7, 'condemn'],
    ['just condemned', 7 * 24, 0, 7, 'nothing'],
    ['condemned for almost a day', 8 * 24, 23.999, 7, 'nothing'],
    ['condemned for a day', 8 * 24, 24, 7, 'remove'],
    ['condemned for long', 80 * 24, 72 * 24, 7, 'remove'],
    ['condemned, and the retention was made longer', 8 * 24, 24, 30, 'spare'],
    ['no retention at all', 0, null, 0, 'condemn'],
    ['no retention at all, a day later', 24, 24, 0, 'remove'],
  ];
  for (const [name, deleted, condemned, retentionDays, due] of cases) {
    const volume = {
      deletedAt: hoursAgo(deleted),
      condemnedAt: condemned === null ? null : hoursAgo(condemned),
    };
    t.equal(volumeDue(volume, retentionDays, NOW), due, name);
  }
});

t.test("a purged volume is due at once, a guest's within the hour", async (t) => {
  const cases: [string, number, { isPurged?: boolean; isGuests?: boolean }, ReturnType<typeof volumeDue>][] =
    [
      ['purged just now', 0, { isPurged: true }, 'remove'],
      ['deleted by a guest just now', 0, { isGuests: true }, 'nothing'],
      ['a moment before a guest loses it', 49.9 / 60, { isGuests: true }, 'nothing'],
      ['so early that the next pass comes within the hour', 50 / 60, { isGuests: true }, 'remove'],
      ['deleted by somebody with an account', 1, {}, 'nothing'],
    ];
  for (const [name, hours, kind, due] of cases) {
    t.equal(volumeDue({ deletedAt: hoursAgo(hours), condemnedAt: null, ...kind }, 7, NOW), due, name);
  }
});

t.test('nothing is removed without being condemned a day before, whatever the retention', async (t) => {
  for (let hours = 0; hours < 24 * 400; hours += 7) {
    for (const retentionDays of [0, 1, 7, 30, 365]) {
      t.not(volumeDue({ deletedAt: hoursAgo(hours), condemnedAt: null }, retentionDays, NOW), 'remove');
    }
  }
});

t.test('a deleted volume is not removed before its announced time', async (t) => {
  const deletedAt = NOW;
  for (const retentionDays of [0, 7]) {
    const until = keptUntil({ deletedAt }, retentionDays);
    const condemnedAt = new Date(NOW.getTime() + retentionDays * 24 * 3_600_000);
    const at = (ms: number) =>
      volumeDue({ deletedAt, condemnedAt }, retentionDays, new Date(until.getTime() + ms));
    t.same([at(-1), at(0)], ['nothing', 'remove'], `${retentionDays} days`);
  }
  const until = keptUntil({ deletedAt, isGuests: true }, 7);
  const at = (ms: number) =>
    volumeDue({ deletedAt, condemnedAt: null, isGuests: true }, 7, new Date(until.getTime() + ms));
  t.same([at(-1), at(0)], ['nothing', 'remove'], 'a guest');
});

t.test('a path is resolved below the workspace, however it is written', async (t) => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['.', []],
    ['/workspace', []],
    ['/workspace/', []],
    ['a', ['a']],
    ['a/b', ['a', 'b']],
    ['./a//b/./c/', ['a', 'b', 'c']],
    ['/workspace/a/b', ['a', 'b']],
    ['workspace/a', ['workspace', 'a']],
    ['-rf', ['-rf']],
    ['...', ['...']],
    ['a b/\n"\'$(x)', ['a b', '\n"\'$(x)']],
    ['~', ['~']],
    ['%2e%2e', ['%2e%2e']],
    [Array(FILE_LIMITS.depth).fill('d').join('/'), Array(FILE_LIMITS.depth).fill('d')],
    ['x'.repeat(255), ['x'.repeat(255)]],
  ];
  for (const [text, path] of table)
    t.same(parseFilePath(text), { ok: true, value: path }, JSON.stringify(text));
});

t.test('a path outside the workspace or with an invalid name is refused', async (t) => {
  const table = [
    ['..', 'must not contain ..'],
    ['a/../b', 'must not contain ..'],
    ['/workspace/../etc', 'must not contain ..'],
    ['/', 'must be inside /workspace'],
    ['/etc/passwd', 'must be inside /workspace'],
    ['/workspaces/a', 'must be inside /workspace'],
    ['//workspace/a', 'must be inside /workspace'],
    ['a\0b', 'has characters that are not allowed'],
    ['a\ud800b', 'has characters that are not allowed'],
    ['x'.repeat(256), 'has a name that is too long'],
    ['ä'.repeat(128), 'has a name that is too long'],
    [
      Array(FILE_LIMITS.depth + 1)
        .fill('d')
        .join('/'),
      'is deeper than 64 folders',
    ],
    ['a/'.repeat(2049), 'is too long'],
  ] as const;
  const longest = `${Array(16).fill('x'.repeat(255)).join('/')}/`;
  t.equal(longest.length, FILE_LIMITS.pathBytes);
  t.ok(parseFilePath(longest).ok);
  for (const [text, path] of table) {
    t.same(parseFilePath(text), { ok: false, error: { code: 'validation_failed', fields: { path } } }, text);
  }
});

t.test('the workspace itself can be read, but neither written nor removed', async (t) => {
  for (const text of ['', '/', '.', '/workspace', '/workspace/.', './']) t.notOk(parseTarget(text).ok, text);
  t.same(parseTarget('/workspace/a'), { ok: true, value: ['a'] });
});

t.test('a path is shown absolute, as in the container', async (t) => {
  t.equal(pathText([]), '/workspace');
  t.equal(pathText(['a', 'b c']), '/workspace/a/b c');
});
