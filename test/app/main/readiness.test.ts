import path from 'node:path';
import pino from 'pino';
import t from 'tap';
import { NOT_TESTED, watchIsolation } from '../../../src/app/main/engine/isolation-check.ts';
import { livenessOf, watchLoop } from '../../../src/app/main/health/liveness.ts';
import { type Parts, readinessOf } from '../../../src/app/main/health/readiness.ts';
import type { PartState } from '../../../src/domain/service/health.ts';
import { RightMissing, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import type { Reached } from '../../../src/ports/containers/isolation-canary.ts';
import { moduleAt, runModule } from '../../support/child.ts';
import { aService, as } from '../../support/service/service.ts';

const up = { status: 'ready', detail: 'there' } as const;
const none = { status: 'degraded', detail: 'none', mend: 'start one' } as const;
const coming = { status: 'down', detail: 'is being prepared' } as const;
const answers = async (): Promise<void> => {};
const silent = async (): Promise<never> => {
  throw new Error('no answer');
};

t.test('readiness is degraded by any part, and a silent part is named', async (t) => {
  const all: Parts = { engine: up, image: up, disk: up, isolation: up, resources: up };
  const noEngine: Parts = { ...all, engine: none, image: none };
  const cases: [string, Parts, typeof answers, typeof answers, string, string][] = [
    ['all there', all, answers, answers, 'ready', 'ready'],
    ['no database', all, silent, answers, 'unready', 'ready'],
    ['no engine, and known', noEngine, answers, silent, 'degraded', 'degraded'],
    ['the engine died since', all, answers, silent, 'degraded', 'degraded'],
    ['the image is on its way', { ...all, image: coming }, answers, answers, 'unready', 'ready'],
    ['containers are not shut off', { ...all, isolation: none }, answers, answers, 'degraded', 'ready'],
    ['no result yet', { ...all, isolation: NOT_TESTED }, answers, answers, 'ready', 'ready'],
    ['no size can be kept', { ...all, disk: none }, answers, answers, 'degraded', 'ready'],
    ['the image failed', { ...all, image: none }, answers, answers, 'degraded', 'ready'],
  ];
  for (const [name, parts, database, engine, status, engineStatus] of cases) {
    const state = await readinessOf(parts, { database, engine });
    t.match(state, { status, parts: { engine: { status: engineStatus } } }, name);
    if (engineStatus === 'degraded') t.type(state.parts.engine.mend, 'string', `${name}: how to fix it`);
  }
});

t.test('isolation waits for an engine that is not there, as disk quotas do', async (t) => {
  const both = { database: answers, engine: answers };
  const missing: Parts = { engine: none, image: none, disk: none, isolation: NOT_TESTED, resources: up };
  t.match((await readinessOf(missing, both)).parts.isolation, { status: 'degraded', reason: 'waiting' });
  const starting = await readinessOf({ ...missing, engine: coming }, both);
  t.same(starting.parts.isolation, NOT_TESTED, 'not while it starts');
  const tested = await readinessOf({ ...missing, isolation: up }, both);
  t.same(tested.parts.isolation, up, 'a result stays');
});

t.test('liveness needs a running loop and reconciler', async (t) => {
  const cases: readonly (readonly [number, number, string])[] = [
    [0, 0, 'live'],
    [1_999, 89_999, 'live'],
    [2_000, 0, 'stuck'],
    [0, 90_000, 'stuck'],
  ];
  for (const [lagMs, silenceMs, status] of cases) {
    t.equal(livenessOf({ lagMs, silenceMs }).status, status, `${lagMs} ${silenceMs}`);
  }
});

t.test('a blocked loop counts as late at once', async (t) => {
  let now = 0;
  const loop = watchLoop(() => now);
  t.teardown(loop.stop);
  t.equal(loop.lagMs(), 0);
  now = 400;
  t.equal(loop.lagMs(), 0, 'it is not due yet');
  now = 3_500;
  t.equal(loop.lagMs(), 3_000);
});

t.test('a stuck service answers 503 with the reason', async (t) => {
  const service = await aService({}, { liveness: () => ({ status: 'stuck', detail: 'why' }) });
  const answer = await as(service, null)('GET', '/livez');
  t.same([answer.statusCode, answer.json()], [503, { status: 'stuck', detail: 'why' }]);
});

const log = pino({ level: 'silent' });

/** A log of faults that records its lines. */
function errors() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'error' }, { write: (line: string) => lines.push(line) }) };
}

const host: Reached = { what: 'host', at: '10.0.0.1:4000' };
const ELSEWHERE: readonly Reached[] = [
  { what: 'engine', at: '/run/docker.sock' },
  { what: 'metadata', at: '169.254.169.254:80' },
];
const neighbour: Reached = { what: 'neighbour', at: '10.0.0.3:8099' };

/** The readiness after checks with these findings, in turn. */
async function after(finds: readonly (readonly Reached[] | Error)[], retryMs = 1) {
  const left = [...finds];
  const parts = { isolation: NOT_TESTED };
  const { log, lines } = errors();
  let asserted = 0;
  const watched = watchIsolation({
    parts,
    log,
    assertRules: async () => {
      asserted += 1;
      return [];
    },
    firstAfterMs: 0,
    everyMs: 1,
    retryMs,
  });
  const done = new Promise<void>((resolve) => {
    watched.begin({
      prove: async () => {
        const next = left.shift();
        if (next instanceof Error) throw next;
        if (next === undefined) {
          resolve();
          return await new Promise(() => {});
        }
        return next;
      },
      stop: async () => {},
    });
  });
  await done;
  return { ...parts.isolation, asserted, logged: lines.map((line) => JSON.parse(line)) };
}

t.test("readiness shows the isolation check's result", async (t) => {
  const fine = await after([[]]);
  t.match(fine, { status: 'ready', detail: /^verified at /, asserted: 0 });
  t.same(fine.logged, []);
  t.match(await after([[host], []]), {
    status: 'ready',
    detail: 'was open (services of this machine), now closed again',
    asserted: 1,
    logged: [{ reached: [host], msg: /can reach services of this machine/ }],
  });
  t.match(await after([[host], [host, neighbour, host]]), {
    status: 'degraded',
    detail: 'containers can reach services of this machine, each other',
    mend: /packet filter/,
    asserted: 1,
    logged: [{ reached: [host] }, { reached: [host, neighbour, host], msg: /can still reach/ }],
  });
  t.match(await after([ELSEWHERE, ELSEWHERE]), {
    detail: 'containers can reach the container engine, the metadata address 169.254.169.254',
  });
  t.match(await after([new Error('no engine')]), {
    status: 'degraded',
    detail: /could not be tested$/,
    mend: /log/,
    logged: [{ err: { message: 'no engine' } }],
  });
  t.match(
    await after([[host], new Error('no engine')]),
    { status: 'degraded', detail: /^containers can reach services of this machine; .*could not/ },
    'what was open stays said',
  );
  t.match(
    await after([new Error('no engine'), []]),
    { status: 'ready' },
    'and the next one may find it well',
  );
});

t.test('repeated failures of the isolation check say the same, and claim no opening', async (t) => {
  const failures = [1, 2, 3].map((n) => new Error(`failure ${n}`));
  t.match(await after(failures), {
    reason: 'untested',
    detail: /^the isolation of containers could not be tested$/,
  });
  t.match(await after([[host], [host], ...failures]), {
    reason: 'open',
    detail:
      /^containers can reach services of this machine; the isolation of containers could not be tested$/,
  });
  t.match(await after([[host], [host], failures[0] as Error, [], ...failures]), { reason: 'untested' });
});

t.test('an isolation check that fails again and again is repeated ever more rarely', async (t) => {
  const RETRY_MS = 20;
  const startedMs = performance.now();
  await after(
    [1, 2, 3].map((n) => new Error(`failure ${n}`)),
    RETRY_MS,
  );
  t.ok(performance.now() - startedMs >= 7 * RETRY_MS - 5, 'after once, twice and four times that time');
});

t.test('a replaced isolation check does not run, and the last one is stopped', async (t) => {
  const parts = { isolation: NOT_TESTED };
  const watched = watchIsolation({ parts, log, assertRules: async () => [], firstAfterMs: 1, everyMs: 1 });
  const flown: string[] = [];
  const stopped: string[] = [];
  const canary = (name: string, flies: () => void) => ({
    prove: async () => {
      flown.push(name);
      flies();
      return [];
    },
    stop: async () => void stopped.push(name),
  });
  await new Promise<void>((resolve) => {
    watched.begin(canary('first', () => {}));
    watched.begin(canary('second', resolve));
  });
  await watched.stop();
  t.same([new Set(flown), stopped], [new Set(['second']), ['second']]);
  t.match(parts.isolation, { status: 'ready', detail: /^verified at / });
});

t.test('the isolation check of an engine that was left is stopped, which is no failure', async (t) => {
  const { log, lines } = errors();
  const parts = { isolation: NOT_TESTED };
  const watched = watchIsolation({ parts, log, assertRules: async () => [], firstAfterMs: 0, everyMs: 1 });
  const ended = Promise.withResolvers<never>();
  const stop = async () => ended.reject(new Error('the check was stopped'));
  await new Promise<void>((resolve) => {
    const prove = () => {
      resolve();
      return ended.promise;
    };
    watched.begin({ prove, stop });
  });
  await watched.leave();
  await watched.stop();
  t.same([parts.isolation, lines], [NOT_TESTED, []]);
  await t.rejects(ended.promise);
});

t.test('foreign rule changes degrade the readiness until the rules are found intact', async (t) => {
  const proved = { status: 'ready', detail: 'proved at noon' } as const;
  const parts: { isolation: PartState } = { isolation: proved };
  const { log, lines } = errors();
  const found: (readonly string[] | Error)[] = [];
  const watched = watchIsolation({
    parts,
    log,
    assertRules: async () => {
      const next = found.shift() ?? [];
      if (next instanceof Error) throw next;
      return next;
    },
  });
  const checkRules = async (what: readonly string[] | Error): Promise<unknown> => {
    found.push(what);
    return await watched.checkRules().catch((error: Error) => error.message);
  };
  await checkRules([]);
  t.same([parts.isolation, lines], [proved, []]);
  await checkRules(['gone: -A INPUT -j BERTH-1-IN']);
  t.match(parts.isolation, { status: 'degraded', detail: /changed from outside \(1 rule\)/, mend: /log/ });
  await checkRules(['gone: a', 'gone: b']);
  t.match(parts.isolation, { detail: /changed from outside \(2 rules\)/ });
  t.match(lines, [/gone: -A INPUT -j BERTH-1-IN/]);
  t.equal(await checkRules(new Error('no iptables')), 'no iptables');
  t.match(parts.isolation, { status: 'degraded', detail: /could not be set/ });
  await checkRules([]);
  t.same(parts.isolation, proved, 'the next good check');
  await checkRules(new RuntimeUnavailable('the engine is down'));
  t.same(parts.isolation, proved, 'an engine that does not answer refuses nothing');
  await checkRules(new RightMissing('patch networkpolicies', '403'));
  t.match(parts.isolation, { reason: 'filter_refused' });
});

t.test('what closes the network, and what to do about it, is in the words of the engine', async (t) => {
  const parts: { isolation: PartState } = { isolation: NOT_TESTED };
  const { log, lines } = errors();
  const closing = {
    by: 'network policy',
    around: 'the cluster',
    mend: 'use another plugin',
    mendChanged: 'ask the cluster',
    docs: 'docs/cluster.md',
  };
  const finds = [new Error('no Pod'), [{ what: 'cluster', at: '10.96.0.1:443' } as const]];
  const isOver = Promise.withResolvers<void>();
  const watched = watchIsolation({
    parts,
    log,
    closing,
    firstAfterMs: 0,
    everyMs: 1,
    retryMs: 1,
    assertRules: async () => ['NetworkPolicy x'],
  });
  const seen: PartState[] = [];
  watched.begin({
    prove: async () => {
      seen.push(parts.isolation);
      const next = finds.shift();
      if (next instanceof Error) throw next;
      if (next !== undefined) return next;
      isOver.resolve();
      return await new Promise(() => {});
    },
    stop: async () => {},
  });
  await isOver.promise;
  t.match(seen[1], { reason: 'untested', mend: /docs\/cluster\.md$/ });
  t.match(seen[2], { detail: "containers can reach the cluster's API", mend: 'use another plugin' });
  t.match(lines.join(''), /restoring the network policy/);
  await watched.checkRules();
  t.match(parts.isolation, {
    detail: /^the network policy was changed .* may have reached the cluster$/,
    mend: 'ask the cluster',
  });
});

const ENDING = moduleAt(path.resolve('src/app/main/process/exit.ts'));

/** A process that ends on a signal; its stop takes until `isStopped`. It prints its fatal log lines. */
const aProcess = (then: string, isStopped = 'Promise.resolve()'): string =>
  `import { stopOnSignal } from ${ENDING};
   const log = { fatal: ({ err, origin }, text) => console.log(origin + ' ' + err.message + ': ' + text) };
   stopOnSignal(log, () => ${isStopped});
   setInterval(() => {}, 1_000);
   ${then}`;

const FAULTS = [
  ['an error that nothing catches', 'setImmediate(() => { throw new Error("loose"); })', 'uncaughtException'],
  ['a promise that nobody waits for', 'Promise.reject(new Error("loose"))', 'unhandledRejection'],
] as const;

for (const [name, fault, origin] of FAULTS) {
  t.test(`${name} stops the service in order, is logged, and sets the exit code`, async (t) => {
    const { line, ended } = runModule(t, aProcess(fault));
    t.equal(await line(), `${origin} loose: uncaught error: stopping the service`);
    t.match(await line(), /Stopping/);
    t.equal(await ended, 70);
  });
}

t.test('a second signal ends a stopping process at once', async (t) => {
  const { line, ended, errors, process } = runModule(
    t,
    aProcess('console.log("here");', 'new Promise(() => {})'),
  );
  t.equal(await line(), 'here');
  process.kill('SIGTERM');
  t.match(await line(), /Stopping/);
  process.kill('SIGTERM');
  t.equal(await ended, 1);
  t.match(errors(), /did not shut down cleanly: a second signal arrived/);
});
