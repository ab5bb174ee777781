import fc from 'fast-check';
import t from 'tap';
import {
  EMPTY_QUEUE,
  type FairQueue,
  isFull,
  isUnresponsive,
  nextQueue,
  type QueueEvent,
  type SlotLimits,
} from '../../../src/domain/fair-queue.ts';

/** `ada1@dev` is Ada's first request, for the container `dev`. */
const enter = (named: string): QueueEvent => {
  const [id = '', resourceId = ''] = named.split('@');
  return { type: 'enter', request: { id, resourceId, userId: id.replace(/\d+$/, '') } };
};
const late = (id: string): QueueEvent => ({ type: 'late', id });
const leave = (id: string): QueueEvent => ({ type: 'leave', id });

/** The requests that start at each step. */
function run(limits: SlotLimits, events: readonly QueueEvent[]): readonly (readonly string[])[] {
  let queue = EMPTY_QUEUE;
  return events.map((event) => {
    const step = nextQueue(queue, event, limits);
    queue = step.queue;
    return step.start;
  });
}

const WIDE: SlotLimits = { total: 9, perContainer: 9, perUser: 9 };

type Case = readonly [name: string, SlotLimits, readonly QueueEvent[], readonly (readonly string[])[]];

const CASES: readonly Case[] = [
  ['the first starts at once', WIDE, [enter('ada1@dev')], [['ada1']]],
  [
    'one container opens so many at a time, in the order they came',
    { ...WIDE, perContainer: 1 },
    [enter('ada1@dev'), enter('ada2@dev'), enter('ada3@dev'), leave('ada1'), leave('ada2')],
    [['ada1'], [], [], ['ada2'], ['ada3']],
  ],
  [
    'another container does not wait for it',
    { ...WIDE, perContainer: 1 },
    [enter('ada1@dev'), enter('ada2@dev'), enter('ada3@web')],
    [['ada1'], [], ['ada3']],
  ],
  [
    'one user opens so many at a time, in all containers',
    { ...WIDE, perUser: 1 },
    [enter('ada1@dev'), enter('ada2@web'), enter('bob1@web'), leave('ada1')],
    [['ada1'], [], ['bob1'], ['ada2']],
  ],
  [
    'all open so many at a time',
    { ...WIDE, total: 2 },
    [enter('ada1@a'), enter('bob1@b'), enter('eve1@c'), leave('ada1')],
    [['ada1'], ['bob1'], [], ['eve1']],
  ],
  [
    'a user with many waiting does not keep out another one who comes later',
    { ...WIDE, total: 2 },
    [enter('ada1@a'), enter('ada2@a'), enter('ada3@a'), enter('bob1@b'), leave('ada1'), leave('ada2')],
    [['ada1'], ['ada2'], [], [], ['bob1'], ['ada3']],
  ],
  [
    'users take turns',
    { ...WIDE, total: 1 },
    [
      ...[enter('ada1@a'), enter('ada2@a'), enter('bob1@b'), enter('bob2@b')],
      ...[leave('ada1'), leave('bob1'), leave('ada2')],
    ],
    [['ada1'], [], [], [], ['bob1'], ['ada2'], ['bob2']],
  ],
  [
    'who was served last is behind, however often the others were served before',
    { ...WIDE, total: 1 },
    [
      ...[enter('ada1@a'), enter('ada2@a'), enter('ada3@a'), enter('bob1@b'), enter('bob2@b')],
      ...[leave('ada1'), leave('bob1'), leave('ada2')],
    ],
    [['ada1'], [], [], [], [], ['bob1'], ['ada2'], ['bob2']],
  ],
  [
    'who was never served comes before who was',
    { ...WIDE, total: 1 },
    [enter('ada1@a'), enter('bob1@b'), enter('ada2@a'), enter('eve1@c'), leave('ada1'), leave('bob1')],
    [['ada1'], [], [], [], ['bob1'], ['eve1']],
  ],
  [
    'one that takes too long closes no other container',
    WIDE,
    [enter('ada1@dev'), enter('bob1@web'), late('ada1'), enter('bob2@web'), enter('ada2@dev')],
    [['ada1'], ['bob1'], [], ['bob2'], []],
  ],
  [
    'one that leaves while it waits is not started',
    { ...WIDE, perContainer: 1 },
    [enter('ada1@dev'), enter('ada2@dev'), enter('ada3@dev'), leave('ada2'), leave('ada1')],
    [['ada1'], [], [], [], ['ada3']],
  ],
  [
    'one that takes too long gives its slot to others, but not to its container',
    { total: 2, perContainer: 2, perUser: 2 },
    [
      ...[enter('ada1@dev'), enter('ada2@dev'), enter('ada3@dev'), enter('ada4@web')],
      ...[late('ada1'), late('ada2'), leave('ada1'), leave('ada2')],
    ],
    [['ada1'], ['ada2'], [], [], ['ada4'], [], [], ['ada3']],
  ],
  [
    'the container with the fewest under way comes first',
    { ...WIDE, perUser: 2 },
    [enter('ada1@dev'), enter('ada2@dev'), enter('ada3@dev'), enter('ada4@web'), leave('ada1')],
    [['ada1'], ['ada2'], [], [], ['ada4']],
  ],
  ['what is not under way is not late', WIDE, [late('ada1'), enter('ada1@dev')], [[], ['ada1']]],
  [
    'leaving twice is leaving once',
    WIDE,
    [enter('ada1@dev'), leave('ada1'), leave('ada1')],
    [['ada1'], [], []],
  ],
];

t.test('slots are granted fairly', async (t) => {
  for (const [name, limits, events, started] of CASES) t.same(run(limits, events), started, name);
});

t.test('waiting is limited per user and container', async (t) => {
  let queue = EMPTY_QUEUE;
  for (const named of ['ada1@dev', 'ada2@dev', 'ada3@dev', 'ada4@web'])
    queue = nextQueue(queue, enter(named), { ...WIDE, perUser: 1 }).queue;
  const cases: [userId: string, resourceId: string, perUser: number, perContainer: number, boolean][] = [
    ['ada', 'dev', 4, 3, false],
    ['ada', 'dev', 3, 9, true],
    ['ada', 'dev', 9, 2, true],
    ['ada', 'web', 9, 2, false],
    ['bob', 'web', 3, 2, false],
    ['bob', 'dev', 3, 2, true],
  ];
  for (const [userId, resourceId, perUser, perContainer, expected] of cases)
    t.equal(
      isFull(queue, { userId, resourceId }, { perUser, perContainer }),
      expected,
      `${userId} ${resourceId}`,
    );
  t.notOk(isUnresponsive(queue, 'dev'));
  queue = nextQueue(queue, late('ada1'), WIDE).queue;
  t.ok(isUnresponsive(queue, 'dev'));
  t.notOk(isUnresponsive(queue, 'web'));
  t.notOk(isUnresponsive(nextQueue(queue, leave('ada1'), WIDE).queue, 'dev'));
});

t.test('whatever happens, limits hold, no startable request waits, and all start once', async (t) => {
  const limits = { total: 3, perContainer: 2, perUser: 2 };
  const request = fc.tuple(fc.constantFrom('ada', 'bob', 'eve'), fc.constantFrom('a', 'b'));
  const count = (queue: FairQueue, key: 'userId' | 'resourceId', value: string): number =>
    queue.underway.filter((one) => one[key] === value).length;
  fc.assert(
    fc.property(fc.array(request, { maxLength: 30 }), fc.array(fc.nat(29)), (requests, leavers) => {
      let queue = EMPTY_QUEUE;
      const started: string[] = [];
      const apply = (event: QueueEvent): void => {
        const step = nextQueue(queue, event, limits);
        queue = step.queue;
        started.push(...step.start);
        const isTaken = queue.underway.length >= limits.total;
        t.ok(queue.underway.length <= limits.total);
        for (const { userId, resourceId } of queue.underway) {
          t.ok(count(queue, 'userId', userId) <= limits.perUser);
          t.ok(count(queue, 'resourceId', resourceId) <= limits.perContainer);
        }
        for (const { userId, resourceId } of queue.waiting) {
          const isHeldBack =
            count(queue, 'userId', userId) >= limits.perUser ||
            count(queue, 'resourceId', resourceId) >= limits.perContainer;
          t.ok(isTaken || isHeldBack);
        }
      };
      requests.forEach(([user, container], at) => void apply(enter(`${user}${at}@${container}`)));
      for (const at of leavers) {
        const [user] = requests[at] ?? [];
        if (user !== undefined && started.includes(`${user}${at}`)) apply(leave(`${user}${at}`));
      }
      while (queue.underway[0] !== undefined) apply(leave(queue.underway[0].id));
      t.equal(started.length, requests.length);
      t.equal(new Set(started).size, started.length);
      t.same(queue, EMPTY_QUEUE);
    }),
  );
});
