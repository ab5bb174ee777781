import t from 'tap';
import { commandFaults } from '../../src/domain/command.ts';
import {
  type Container,
  decideOrphan,
  nameFaults,
  type Observation,
  settledState,
  volumeName,
} from '../../src/domain/container.ts';
import { parseContainerRef } from '../../src/domain/container-id.ts';
import { envFaults } from '../../src/domain/env.ts';
import { aContainer } from '../support/builders.ts';

const now = new Date('2026-01-02T00:00:00Z');
const running: Observation = { kind: 'running' };
const stopped: Observation = { kind: 'stopped' };
const paused: Observation = { kind: 'paused' };
const gone: Observation = { kind: 'gone', volumeExists: false };

t.test('a row settles on what the engine says, and a second pass changes nothing', async (t) => {
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
    const settled = settledState(aContainer({ state }), seen);
    t.equal(settled, expected, `${state}, ${seen.kind}`);
    if (settled !== null)
      t.equal(settledState(aContainer({ state: settled }), seen), null, 'settled stays settled');
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

t.test('a command has at most 128 KiB of arguments, and the environment of a container', async (t) => {
  const arguments_ = (count: number) => Array.from({ length: count }, () => 'x'.repeat(1023));
  t.same(commandFaults({ command: arguments_(128) }), {});
  t.same(commandFaults({ command: [...arguments_(128), ''] }), { command: 'must be at most 128 KiB in all' });
  t.match(commandFaults({ command: ['true'], env: { 'A=B': '' } }), { env: String });
});

t.test('the volume is named after the id, so a rename keeps the data', async (t) => {
  t.equal(volumeName('6f0d1d6e-0000-4000-8000-000000000000'), 'ws-6f0d1d6e-0000-4000-8000-000000000000');
});

t.test('an id in a path is a UUID, 12 to 64 hex digits or an agent; all else names nothing', async (t) => {
  const uuid = '6f0d1d6e-0000-4000-8000-00000000000a';
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

t.test(
  'an engine container goes only when its row is deleted or it stayed unclaimed for an hour',
  async (t) => {
    const id = 'a'.repeat(64);
    const other = 'b'.repeat(64);
    const hourAgo = new Date(now.getTime() - 3_600_000);
    const cases: [string, Parameters<typeof decideOrphan>, string][] = [
      ['its row points at it', [id, { state: 'running', runtimeId: id }, false, null, now], 'keep'],
      ['its row points at it again', [id, { state: 'stopped', runtimeId: id }, false, hourAgo, now], 'keep'],
      ['an operation is at work', [id, null, true, hourAgo, now], 'keep'],
      ['its row is deleted', [id, { state: 'deleted', runtimeId: id }, false, null, now], 'remove'],
      [
        'its row points elsewhere',
        [id, { state: 'running', runtimeId: other }, false, null, now],
        'quarantine',
      ],
      ['no row', [id, null, false, null, now], 'quarantine'],
      ['no row, seen lately', [id, null, false, new Date(hourAgo.getTime() + 1), now], 'quarantine'],
      ['no row for an hour', [id, null, false, hourAgo, now], 'remove'],
      [
        'its row points elsewhere for an hour',
        [id, { state: 'stopped', runtimeId: null }, false, hourAgo, now],
        'remove',
      ],
    ];
    for (const [name, args, expected] of cases) t.equal(decideOrphan(...args), expected, name);
  },
);
