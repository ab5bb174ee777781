import t from 'tap';
import type { Container } from '../../../src/domain/containers/container.ts';
import { lastWords, presentWords } from '../../../src/domain/containers/lifetime/activity.ts';
import {
  endReason,
  explainLifetime,
  warningWords,
} from '../../../src/domain/containers/lifetime/explain-lifetime.ts';
import { hasLabels, labelFaults, parseLabelFilter } from '../../../src/domain/containers/lifetime/labels.ts';
import {
  firstLifetime,
  type Lifetime,
  lifetimeFaults,
  NO_LIFETIME,
  NO_LIFETIME_LIMITS,
} from '../../../src/domain/containers/lifetime/lifetime.ts';
import {
  endOf,
  type LifetimeEnd,
  nextLifetimeStep,
  type Warned,
} from '../../../src/domain/containers/lifetime/lifetime-end.ts';
import { aContainer } from '../../support/samples/samples.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
/** Seconds after the start of the container. */
const at = (seconds: number): Date => new Date(START_MS + seconds * 1_000);
const living = (lifetime: Partial<Lifetime>, over: Partial<Container> = {}): Container =>
  aContainer({ createdAt: at(-5), startedAt: at(0), ...over, lifetime: { ...NO_LIFETIME, ...lifetime } });
const secondsOf = (end: LifetimeEnd | null) =>
  end && { at: (end.at.getTime() - START_MS) / 1_000, action: end.action, because: end.because };

t.test('the next end follows from the hard end, the last use, and what the owner keeps', async (t) => {
  const idle = { idleSeconds: 600 };
  const stopped = { state: 'stopped' } as const;
  const installing = { roleSetup: { status: 'installing', id: 'x', detail: '' } } as unknown as Container;
  const CASES: readonly (readonly [string, Container, ReturnType<typeof secondsOf>])[] = [
    ['nothing was requested', living({}), null],
    ['idle since its start', living(idle), { at: 600, action: 'stop', because: 'idle' }],
    ['used later', living({ ...idle, activeAt: at(100) }), { at: 700, action: 'stop', because: 'idle' }],
    [
      'used before this start',
      living({ ...idle, activeAt: at(-50) }),
      { at: 600, action: 'stop', because: 'idle' },
    ],
    ['kept', living({ ...idle, keptUntil: at(4_000) }), { at: 4_000, action: 'stop', because: 'idle' }],
    ['kept for less', living({ ...idle, keptUntil: at(10) }), { at: 600, action: 'stop', because: 'idle' }],
    [
      'deleted when idle',
      living({ ...idle, onIdle: 'delete' }),
      { at: 600, action: 'delete', because: 'idle' },
    ],
    ['a hard end', living({ endsAt: at(90) }), { at: 90, action: 'stop', because: 'time' }],
    [
      'a hard end, kept',
      living({ endsAt: at(90), keptUntil: at(95) }),
      { at: 95, action: 'stop', because: 'time' },
    ],
    [
      'the earlier of both',
      living({ ...idle, endsAt: at(700) }),
      { at: 600, action: 'stop', because: 'idle' },
    ],
    ['a spent end', living({ endsAt: at(-1) }), null],
    [
      'a hard end only stops, whatever idleness does',
      living({ endsAt: at(9), onIdle: 'delete' }),
      { at: 9, action: 'stop', because: 'time' },
    ],
    [
      'ephemeral',
      living({ isEphemeral: true, endsAt: at(90) }),
      { at: 90, action: 'delete', because: 'time' },
    ],
    ['stopped', living(idle, stopped), null],
    [
      'ephemeral and stopped',
      living({ ...idle, isEphemeral: true }, stopped),
      { at: 600, action: 'delete', because: 'idle' },
    ],
    [
      'ephemeral, restarted after its end',
      living({ isEphemeral: true, endsAt: at(-1) }),
      { at: -1, action: 'delete', because: 'time' },
    ],
    ['changing', living(idle, { state: 'updating' }), null],
    ['deleted', living({ isEphemeral: true, endsAt: at(1) }, { state: 'deleted' }), null],
    ['installing tools', living(idle, installing), null],
  ];
  for (const [name, container, expected] of CASES) t.same(secondsOf(endOf(container)), expected, name);
});

/** Steps the clock second by second, as a pass does; returns what it does and when. */
function passes(container: (seconds: number) => Container, untilSeconds: number, fromSeconds = 0): string[] {
  let warned: Warned | null = null;
  const done: string[] = [];
  for (let seconds = fromSeconds; seconds <= untilSeconds; seconds += 1) {
    const step = nextLifetimeStep(container(seconds), warned, at(seconds));
    if (step.do === 'warn') t.ok(Number.isInteger(step.leadSeconds), 'as it is stored');
    if (step.do === 'warn') warned = { end: step.end.at, leadSeconds: step.leadSeconds, at: at(seconds) };
    if (step.do !== 'nothing') done.push(`${step.do} at ${seconds}`);
    if (step.do === 'end') break;
  }
  return done;
}

t.test('it is warned twice, once each, and then ends', async (t) => {
  const idle = (idleSeconds: number) => () => living({ idleSeconds });
  t.same(passes(idle(3_600), 4_000), ['warn at 3300', 'warn at 3540', 'end at 3600']);
  t.same(
    passes(() => living({ endsAt: at(900) }), 1_000),
    ['warn at 600', 'warn at 840', 'end at 900'],
  );
  t.same(passes(idle(60), 100), ['warn at 30', 'end at 60'], 'one warning in a short time');
});

t.test('it ends however short its life is', async (t) => {
  const missed: string[] = [];
  for (let tenths = 600; tenths <= 1_300; tenths += 1) {
    const seconds = tenths / 10;
    for (const lifetime of [{ idleSeconds: seconds }, { endsAt: at(seconds) }]) {
      const done = passes(() => living(lifetime), 200);
      if (done.at(-1) !== `end at ${Math.ceil(seconds)}`) missed.push(`${seconds}: ${done.at(-1)}`);
    }
  }
  t.same(missed, []);
  t.same(
    passes(() => living({ isEphemeral: true, endsAt: at(-1) }), 100),
    ['warn at 0', 'end at 15'],
    'and after its end has passed',
  );
});

t.test('a used container neither ends nor is warned', async (t) => {
  const busy = (lag: number) => (seconds: number) => living({ idleSeconds: 60, activeAt: at(seconds - lag) });
  t.same(passes(busy(5), 1_000), []);
  t.same(passes(busy(20), 1_000), [], 'although its record is late');
  const usedOnce = (seconds: number) =>
    living({ idleSeconds: 3_600, activeAt: seconds >= 3_590 ? at(3_590) : null });
  t.same(
    passes(usedOnce, 8_000),
    ['warn at 3300', 'warn at 3540', 'warn at 6890', 'warn at 7130', 'end at 7190'],
    'a use after the warnings starts anew',
  );
  const kept = (seconds: number) => living({ endsAt: at(900), keptUntil: seconds >= 890 ? at(4_490) : null });
  t.same(passes(kept, 5_000).at(-1), 'end at 4490');
});

t.test('after an outage it is warned first, however long its end has passed', async (t) => {
  const idle = () => living({ idleSeconds: 3_600 });
  t.same(passes(idle, 9_999, 9_000), ['warn at 9000', 'end at 9045']);
  const back = (seconds: number) =>
    living({ idleSeconds: 3_600, activeAt: seconds > 9_005 ? at(seconds) : null });
  t.same(passes(back, 9_999, 9_000), ['warn at 9000'], 'so that uses in progress are recorded before');
});

t.test('ranges, and what an ephemeral container must have', async (t) => {
  const ephemeral = { ...NO_LIFETIME, isEphemeral: true, idleSeconds: 600 };
  t.same(
    lifetimeFaults(
      { ttlSeconds: 60, idleSeconds: null, keepSeconds: 3_600 },
      NO_LIFETIME,
      NO_LIFETIME_LIMITS,
    ),
    {},
  );
  t.match(
    lifetimeFaults(
      { ttlSeconds: 59, idleSeconds: 604_801, keepSeconds: 1.5 },
      NO_LIFETIME,
      NO_LIFETIME_LIMITS,
    ),
    { ttlSeconds: /60 to 2592000/, idleSeconds: /60 to 604800/, keepSeconds: /whole number/ },
  );
  t.match(lifetimeFaults({ onIdle: 'stop' }, ephemeral, NO_LIFETIME_LIMITS), { onIdle: /must be delete/ });
  t.match(lifetimeFaults({ idleSeconds: null }, ephemeral, NO_LIFETIME_LIMITS), {
    idleSeconds: /must be set/,
  });
  t.same(lifetimeFaults({ idleSeconds: null, ttlSeconds: 60 }, ephemeral, NO_LIFETIME_LIMITS), {});
  const limits = { maxTtlSeconds: 3_600, maxIdleSeconds: 600 };
  t.same(
    lifetimeFaults({ ttlSeconds: 3_600, idleSeconds: 600, keepSeconds: 3_600 }, NO_LIFETIME, limits),
    {},
  );
  for (const request of [{ ttlSeconds: 3_601, idleSeconds: 601, keepSeconds: 3_601 }] as const)
    t.match(lifetimeFaults(request, NO_LIFETIME, limits), {
      ttlSeconds: /60 to 3600 in your tier/,
      idleSeconds: /60 to 600/,
      keepSeconds: /3600/,
    });
  t.match(lifetimeFaults({ ttlSeconds: null, idleSeconds: null }, NO_LIFETIME, limits), {
    ttlSeconds: String,
    idleSeconds: String,
  });
  t.same(firstLifetime({}, true, limits), { onIdle: 'delete', idleSeconds: 600 });
  t.same(firstLifetime({}, true, NO_LIFETIME_LIMITS), { onIdle: 'delete', idleSeconds: 1_800 });
  t.same(firstLifetime({ ttlSeconds: 60 }, true, NO_LIFETIME_LIMITS), { onIdle: 'delete', ttlSeconds: 60 });
  t.same(firstLifetime({}, false, NO_LIFETIME_LIMITS), {});
});

t.test('the end is explained in words', async (t) => {
  const used = [{ kind: 'command', lastAt: at(100) }];
  const now = at(460);
  t.equal(explainLifetime(living({}), [], now), 'never: it has no end and no idle time');
  t.equal(
    explainLifetime(living({ idleSeconds: 600, activeAt: at(100) }), used, now),
    'in 240 s: nothing has used it since a command at 2026-01-01T00:01:40.000Z',
  );
  t.equal(
    explainLifetime(
      living({ idleSeconds: 600, activeAt: at(460) }),
      [{ kind: 'terminal', lastAt: at(455) }, ...used],
      now,
    ),
    'in 600 s: a terminal is open, and it may be idle for 600 s after that',
  );
  t.match(
    explainLifetime(living({ idleSeconds: 600 }), [], now),
    /^in 140 s: nothing has used it since its start/,
  );
  t.match(explainLifetime(living({ endsAt: at(500) }), used, now), /^in 40 s: its time ends then/);
  t.match(
    explainLifetime(living({ idleSeconds: 60, keptUntil: at(500) }), used, now),
    /^in 40 s: it was kept/,
  );
  t.match(
    explainLifetime(living({ idleSeconds: 60 }, { state: 'stopped' }), used, now),
    /^not now: it is stopped/,
  );
  const end = endOf(living({ idleSeconds: 600 }));
  if (end === null) throw new Error('no end');
  t.equal(endReason(living({ idleSeconds: 600 }), end), 'stopped because nothing used it for 600 s');
  t.match(warningWords(end, 300, 'dev'), /will be stopped in 5 min, because nothing uses it.*berth keep dev/);
  t.match(warningWords(end, 30, 'dev'), /in 30 s/);
  t.equal(presentWords([{ kind: 'of a later version', lastAt: now }], now), 'of a later version is in use');
  t.equal(lastWords([]), null);
});

t.test('labels have narrow keys, short values and a number', async (t) => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
  t.same(labelFaults({ 'app.example.org/run': 'a:b "c" ; drop table', ...many(31) }), {});
  for (const labels of [
    many(33),
    { '': 'x' },
    { 'a b': 'x' },
    { 'a:b': 'x' },
    { a: 'x\u001b[2J' },
    { a: 'x'.repeat(256) },
  ])
    t.ok('labels' in labelFaults(labels), JSON.stringify(labels).slice(0, 40));
  t.same(parseLabelFilter('a:b:c'), { key: 'a', value: 'b:c' });
  t.same(parseLabelFilter('a:'), { key: 'a', value: '' });
  for (const text of ['', 'a', ':b', "a' or 1:b"]) t.equal(parseLabelFilter(text), null);
  t.ok(hasLabels({ a: 'b', c: 'd' }, [{ key: 'a', value: 'b' }]));
  t.notOk(
    hasLabels({ a: 'b' }, [
      { key: 'a', value: 'b' },
      { key: 'c', value: 'd' },
    ]),
  );
  t.notOk(hasLabels({}, [{ key: 'constructor', value: 'x' }]));
});
