import t from 'tap';
import {
  afterFault,
  type Facts,
  type ObservedState,
  type Operation,
  type OperationFault,
  type OperationKind,
  type Step,
  standing,
} from '../../../src/domain/containers/operation.ts';
import { intentOf, nextStep } from '../../../src/domain/containers/operation-plan.ts';

const SEEN: readonly ObservedState[] = ['running', 'ending', 'paused', 'stopped', 'in_maintenance', 'gone'];
const KINDS: readonly OperationKind[] = [
  'create',
  'start',
  'stop',
  'update',
  'delete',
  'restore',
  'snapshot',
  'transfer',
];
const ofSnapshot = { id: 'snap', hasPaused: false, hasVolume: false };
const PHASES: readonly Operation['phase'][] = ['forward', 'back', 'committed'];
const FACTS = SEEN.flatMap((old) => SEEN.map((fresh): Facts => ({ old, fresh })));
/** The possible progress of a carry-over. */
const PROGRESS = [
  { carryOver: false, measured: false },
  { carryOver: false, measured: true },
  { carryOver: true, measured: false },
  { carryOver: true, measured: true },
  { carryOver: true, measured: true, layerImage: 'image' },
] as const;
const small = { memoryMb: 256, cpuMillicores: 100, diskMb: 512 };
const large = { ...small, memoryMb: 512 };

const operation = (over: Partial<Operation> = {}): Operation => ({
  id: 'op',
  dbId: 'box',
  kind: 'update',
  phase: 'forward',
  before: { state: 'running', runtimeId: 'a', generation: 1, resources: small },
  target: { name: 'dev', resources: large },
  verified: false,
  unfitted: false,
  wasDown: false,
  volumeKept: null,
  carryOver: false,
  measured: false,
  layerImage: null,
  ...over,
});

const text = (step: Step): string =>
  [step.do, 'which' in step && step.which, 'now' in step && step.now, 'outcome' in step && step.outcome]
    .filter(Boolean)
    .join(' ');

/** Applies a step to a model of the engine; a commit and a verification change the operation. */
function play(start: Operation, seen: Facts, failing: (step: Step) => boolean = () => false) {
  let op = start;
  let facts = seen;
  const steps: string[] = [];
  let bothRan = false;
  for (let i = 0; i < 20; i++) {
    const step = nextStep(op, facts);
    steps.push(text(step));
    if (step.do === 'finish' || step.do === 'put_back') return { steps, facts, op, step, bothRan };
    if (failing(step) && op.phase === 'forward') {
      op = { ...op, phase: 'back' };
      continue;
    }
    [op, facts] = after(op, facts, step);
    // A paused container uses its volume too, and so may one that ends.
    bothRan ||= ['running', 'ending', 'paused'].includes(facts.old) && facts.fresh === 'running';
  }
  throw new Error(`does not end: ${steps.join(', ')}`);
}

function after(op: Operation, facts: Facts, step: Step): [Operation, Facts] {
  switch (step.do) {
    case 'measure_old':
      return [{ ...op, measured: true }, facts];
    case 'capture_old':
      return [{ ...op, layerImage: `image of the ${facts.old} one` }, facts];
    case 'pause_old':
      return [
        { ...op, ...intentOf(op, step) },
        { ...facts, old: 'paused' },
      ];
    case 'resume_old':
      return [op, { ...facts, old: 'running' }];
    case 'copy_volume':
    case 'fill_volume':
      return [{ ...op, snapshot: { ...ofSnapshot, ...op.snapshot, hasVolume: true } }, facts];
    case 'create_fresh':
      return [op, { ...facts, fresh: 'stopped' }];
    case 'start':
      return [op, { ...facts, [step.which]: 'running' }];
    case 'stop_old':
      return [op, { ...facts, old: 'stopped' }];
    case 'remove':
      return [op, { ...facts, [step.which]: 'gone' }];
    case 'verify_fresh':
      return [{ ...op, verified: true }, facts];
    case 'fit_fresh':
      return [{ ...op, unfitted: false }, facts];
    case 'commit':
      return [{ ...op, phase: 'committed' }, facts];
    case 'put_back':
    case 'finish':
      return [op, facts];
  }
}

t.test('each operation has its usual steps when nothing fails', async (t) => {
  const wasStopped = { before: { ...operation().before, state: 'stopped' } } as const;
  const renamed = { target: { name: 'other', resources: small } };
  const snapshot = { snapshot: ofSnapshot };
  const made = 'commit fresh, finish done';
  const begun = `create_fresh, start fresh, ${made}`;
  const started = 'start old, commit old, finish done';
  const copied = 'copy_volume, commit old, finish done';
  const deleted = 'remove old, commit none, finish done';
  const switched = 'start fresh, verify_fresh, commit fresh';
  const over = 'remove old, finish done';
  const cases: readonly (readonly [
    string,
    Partial<Operation>,
    old: ObservedState,
    fresh: ObservedState,
    steps: string,
  ])[] = [
    ['create', { kind: 'create' }, 'gone', 'gone', begun],
    ['from the pool', { kind: 'create', unfitted: true }, 'gone', 'running', `fit_fresh, ${made}`],
    ['ended', { kind: 'create', unfitted: true }, 'gone', 'stopped', `start fresh, fit_fresh, ${made}`],
    ['start', { kind: 'start', ...wasStopped }, 'stopped', 'gone', started],
    ['start of a paused one', { kind: 'start', ...wasStopped }, 'paused', 'gone', started],
    ['start of a vanished one', { kind: 'start' }, 'gone', 'gone', begun],
    ['start of a running one', { kind: 'start' }, 'running', 'gone', 'finish unchanged'],
    ['start of one that ends', { kind: 'start' }, 'ending', 'gone', 'start old, finish unchanged'],
    ['stop of one that ends', { kind: 'stop' }, 'ending', 'gone', 'stop_old, commit old, finish done'],
    ['stop', { kind: 'stop' }, 'running', 'gone', 'stop_old, commit old, finish done'],
    ['shown as stopped', { kind: 'stop', ...wasStopped }, 'paused', 'gone', 'stop_old, finish unchanged'],
    ['stop of one that has ended', { kind: 'stop' }, 'gone', 'gone', 'commit old, finish done'],
    ['stop of a stopped one', { kind: 'stop', ...wasStopped }, 'stopped', 'gone', 'finish unchanged'],
    ['delete', { kind: 'delete' }, 'running', 'gone', deleted],
    ['update', {}, 'running', 'gone', `measure_old, create_fresh, stop_old, ${switched}, ${over}`],
    ['update of a stopped one', {}, 'stopped', 'gone', `measure_old, create_fresh, ${switched}, ${over}`],
    [
      'update of a stopped one in maintenance',
      wasStopped,
      'in_maintenance',
      'in_maintenance',
      `commit fresh, ${over}`,
    ],
    ['update of one that ran there', {}, 'in_maintenance', 'in_maintenance', `${switched}, ${over}`],
    ['delete with another', { kind: 'delete' }, 'running', 'stopped', `remove fresh, ${deleted}`],
    ['a new name alone', renamed, 'running', 'gone', 'commit old, finish done'],
    ['with nothing to carry', { carryOver: true, ...renamed }, 'running', 'gone', 'commit old, finish done'],
    [
      'carrying over',
      { carryOver: true },
      'running',
      'gone',
      `measure_old, stop_old, capture_old, create_fresh, ${switched}, ${over}`,
    ],
    ['from a vanished one', { carryOver: true }, 'gone', 'gone', `create_fresh, ${switched}, finish done`],
    ['restore', { kind: 'restore' }, 'gone', 'gone', `create_fresh, ${made}`],
    ['create from a snapshot', { kind: 'create', ...snapshot }, 'gone', 'gone', `fill_volume, ${begun}`],
    [
      'snapshot',
      { kind: 'snapshot', ...snapshot },
      'running',
      'gone',
      'measure_old, pause_old, capture_old, copy_volume, resume_old, commit old, finish done',
    ],
    // The second was paused from outside.
    ...(['stopped', 'paused'] as const).map((old) => {
      const shown = { kind: 'snapshot', ...snapshot, ...wasStopped } as const;
      return [`snapshot of a ${old} one`, shown, old, 'gone', `measure_old, capture_old, ${copied}`] as const;
    }),
  ];
  for (const [name, changes, old, fresh, steps] of cases)
    t.equal(play(operation(changes), { old, fresh }).steps.join(', '), steps, name);
});

t.test('every operation ends, from any phase and facts', async (t) => {
  const ways = KINDS.flatMap((kind) =>
    PHASES.flatMap((phase) =>
      FACTS.flatMap((facts) =>
        (['running', 'stopped', 'starting'] as const).flatMap((state) =>
          PROGRESS.map((progress) => {
            const before = { ...operation().before, state };
            const snapshot = kind === 'snapshot' ? { snapshot: ofSnapshot } : {};
            return { op: operation({ kind, phase, ...progress, before, ...snapshot }), facts };
          }),
        ),
      ),
    ),
  );
  for (const { op, facts } of ways) t.doesNotThrow(() => play(op, facts), JSON.stringify([op, facts]));
  t.equal(ways.length, 2592 * PROGRESS.length);
});

t.test('an update never runs two containers on one volume, wherever it fails', async (t) => {
  const points = ['create_fresh', 'stop_old', 'start fresh', 'verify_fresh', 'commit fresh'];
  for (const carryOver of [false, true]) {
    for (const old of ['running', 'stopped'] as const) {
      const before = { ...operation().before, state: old };
      for (const point of ['measure_old', ...points, ...(carryOver ? ['capture_old'] : [])]) {
        const begun = operation({ before, carryOver });
        const end = play(begun, { old, fresh: 'gone' }, (step) => text(step) === point);
        if (old === 'stopped' && point === 'stop_old') continue;
        t.notOk(end.bothRan, `${old}, fails at ${point}`);
        t.same(end.step, { do: 'put_back' });
        t.same(end.facts, { old, fresh: 'gone' }, 'the old container is as it was');
      }
    }
  }
});

t.test('an update of a container that is paused or ends stops it before another one starts', async (t) => {
  for (const carryOver of [false, true]) {
    for (const old of ['paused', 'ending'] as const) {
      const end = play(operation({ carryOver }), { old, fresh: 'gone' });
      t.notOk(end.bothRan);
      t.same(end.facts, { old: 'gone', fresh: 'running' });
    }
  }
});

t.test('an update that fails while the old container ends has it run again', async (t) => {
  const back = operation({ phase: 'back' });
  t.same(play(back, { old: 'ending', fresh: 'stopped' }).steps, ['remove fresh', 'start old', 'put_back']);
  const drained = play(back, { old: 'in_maintenance', fresh: 'gone' });
  t.same(drained.steps, ['put_back'], 'unless its node starts nothing');
});

t.test('a carry-over captures a stopped container before the fresh one is made', async (t) => {
  for (const old of ['running', 'stopped'] as const) {
    const end = play(operation({ carryOver: true }), { old, fresh: 'gone' });
    t.equal(end.op.layerImage, 'image of the stopped one');
    t.ok(end.steps.indexOf('capture_old') < end.steps.indexOf('create_fresh'));
  }
  for (const facts of SEEN.map((old): Facts => ({ old, fresh: 'stopped' }))) {
    const end = play(operation({ carryOver: true }), facts);
    t.notOk(end.steps.includes('capture_old'), 'not once the other one is there');
  }
});

t.test('the pause of a snapshot is undone wherever it fails, and nothing else is', async (t) => {
  const begun = operation({ kind: 'snapshot', snapshot: ofSnapshot });
  for (const point of ['pause_old', 'capture_old', 'copy_volume', 'resume_old', 'commit old']) {
    const end = play(begun, { old: 'running', fresh: 'gone' }, (step) => text(step) === point);
    t.same([end.step, end.facts.old], [{ do: 'put_back' }, 'running'], `fails at ${point}`);
  }
  const back = operation({ kind: 'snapshot', phase: 'back', snapshot: { ...ofSnapshot, hasPaused: true } });
  t.same(play(back, { old: 'paused', fresh: 'gone' }).steps, ['resume_old', 'put_back'], 'after a kill');
  const outside = play(operation({ ...back, snapshot: ofSnapshot }), { old: 'paused', fresh: 'gone' });
  t.equal(outside.facts.old, 'paused', 'a pause from outside stays');
});

t.test('a snapshot copies nothing while the container runs', async (t) => {
  const begun = operation({ kind: 'snapshot', measured: true, snapshot: { ...ofSnapshot, hasPaused: true } });
  t.same(nextStep(begun, { old: 'running', fresh: 'gone' }), { do: 'pause_old' }, 'resumed from outside');
  const half = operation({ ...begun, layerImage: 'image' });
  t.same(nextStep(half, { old: 'running', fresh: 'gone' }), { do: 'pause_old' });
  t.same(nextStep(half, { old: 'paused', fresh: 'gone' }), { do: 'copy_volume' });
});

t.test('a failed create, start or restore leaves no fresh container', async (t) => {
  for (const kind of ['create', 'start', 'restore'] as const) {
    for (const point of ['create_fresh', 'start fresh', 'commit fresh']) {
      const end = play(operation({ kind }), { old: 'gone', fresh: 'gone' }, (step) => text(step) === point);
      if (end.op.phase === 'back') t.equal(end.facts.fresh, 'gone', `${kind}, fails at ${point}`);
    }
  }
});

t.test('a delete goes back only while its container exists', async (t) => {
  const failed = operation({ kind: 'delete', phase: 'back' });
  t.same(play(failed, { old: 'running', fresh: 'gone' }).steps, ['put_back']);
  t.same(play(failed, { old: 'gone', fresh: 'gone' }).steps, ['commit none', 'finish done']);
});

t.test('work done by the engine without an answer is committed', async (t) => {
  const stopped = { ...operation().before, state: 'stopped' as const };
  const start = operation({ kind: 'start', phase: 'back', before: stopped });
  t.same(play(start, { old: 'running', fresh: 'gone' }).steps, ['commit old', 'finish done']);
  t.same(play(start, { old: 'stopped', fresh: 'gone' }).steps, ['put_back']);
  t.same(play({ ...start, before: operation().before }, { old: 'running', fresh: 'gone' }).steps, [
    'put_back',
  ]);
  const stop = operation({ kind: 'stop', phase: 'back' });
  t.same(play(stop, { old: 'stopped', fresh: 'gone' }).steps, ['commit old', 'finish done']);
  t.same(play(stop, { old: 'running', fresh: 'gone' }).steps, ['put_back']);
});

t.test('a fault leads back, to an abandon or to a retry', async (t) => {
  const first: OperationFault = { during: 'observe', touchesEngine: false, isUnresponsive: false };
  const later: OperationFault = { ...first, touchesEngine: true };
  const step: OperationFault = { ...later, during: 'step' };
  const silent: OperationFault = { ...later, isUnresponsive: true };
  const silentStep: OperationFault = { ...step, isUnresponsive: true };
  const isEnded = (kind: OperationKind) => ['create', 'start', 'restore'].includes(kind);
  const orEnd = (kind: OperationKind) => (isEnded(kind) ? 'abandon' : 'leave');
  for (const kind of KINDS) {
    const cases: [string, Operation['phase'], OperationFault, ReturnType<typeof afterFault>][] = [
      ['nothing was done that needs undoing', 'forward', first, 'abandon'],
      ['what was done cannot be seen', 'forward', later, 'leave'],
      ['its node does not show what was done', 'forward', silent, orEnd(kind)],
      ['a step has failed', 'forward', step, 'back'],
      ['a step has failed on a silent node', 'forward', silentStep, 'back'],
      ['the undoing has failed', 'back', step, 'leave'],
      ['the undoing has failed on a silent node', 'back', silentStep, orEnd(kind)],
      ['what is undone cannot be seen', 'back', later, 'leave'],
      ['it is committed', 'committed', step, 'leave'],
      ['it is committed on a silent node', 'committed', silentStep, 'leave'],
    ];
    for (const [name, phase, fault, way] of cases)
      t.equal(afterFault(operation({ kind, phase }), fault), way, `${kind}: ${name}`);
  }
  const making = operation({ kind: 'start', volumeKept: true });
  t.equal(afterFault(making, silent), 'abandon', 'a start that may have made a container');
});

t.test('an operation is failed only when its request will not be done', async (t) => {
  for (const kind of KINDS) {
    const received = (phase: Operation['phase']) => standing(operation({ kind, phase }), null);
    t.equal(received('forward'), 'under_way', kind);
    t.equal(received('committed'), 'done', kind);
    const ends = FACTS.map((facts) => play(operation({ kind, phase: 'back' }), facts).step.do);
    if (received('back') === 'failed')
      t.same([...new Set(ends)], ['put_back'], `${kind} is undone, whatever is seen`);
    for (const phase of PHASES) {
      t.equal(standing(operation({ kind, phase }), 'failed'), 'failed');
      t.equal(standing(operation({ kind, phase }), 'done'), 'done');
    }
  }
});

t.test('after the commit nothing goes back, and one container is left', async (t) => {
  for (const old of SEEN) {
    const end = play(operation({ phase: 'committed' }), { old, fresh: 'running' });
    t.same(end.step, { do: 'finish', outcome: 'done' });
    t.same(end.facts, { old: 'gone', fresh: 'running' });
  }
});

t.test('a killed update continues from anywhere', async (t) => {
  const full = ['create_fresh', 'stop_old', 'start fresh', 'verify_fresh', 'commit fresh', 'remove old'];
  const measured = operation({ measured: true });
  const states: Facts[] = [
    { old: 'running', fresh: 'gone' },
    { old: 'running', fresh: 'stopped' },
    { old: 'stopped', fresh: 'stopped' },
    { old: 'stopped', fresh: 'running' },
  ];
  states.forEach((facts, done) => {
    t.same(play(measured, facts).steps, [...full.slice(done), 'finish done'], `after ${done} steps`);
  });
});

t.test('a container is stopped before it gets another owner, and runs again if it does not', async (t) => {
  const step = (phase: Operation['phase'], old: ObservedState) =>
    text(nextStep(operation({ kind: 'transfer', phase }), { old, fresh: 'gone' }));
  t.same(
    SEEN.map((old) => step('forward', old)),
    ['stop_old', 'stop_old', 'stop_old', 'commit old', 'commit old', 'commit old'],
  );
  t.same(
    SEEN.map((old) => step('back', old)),
    ['put_back', 'start old', 'start old', 'start old', 'put_back', 'put_back'],
  );
});
