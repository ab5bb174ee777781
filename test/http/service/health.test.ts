import { randomUUID } from 'node:crypto';
import t from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import { prometheusMetrics } from '../../../src/adapters/prometheus/prometheus-metrics.ts';
import type { PartState } from '../../../src/domain/service/health.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  type Person,
  again as signedIn,
} from '../../support/service/service.ts';
import { eventClient } from '../../support/service/streams.ts';
import { listening } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

const READY: PartState = { status: 'ready', detail: 'there' };
const SILENT: PartState = {
  status: 'degraded',
  detail: 'does not answer',
  reason: 'unreachable',
  mend: 'restart it (sudo systemctl restart docker)',
};
const LOST: PartState = { status: 'down', detail: 'does not answer', reason: 'unreachable' };
const SECOND_MS = 1_000;

/** Services on one storage, whose clock moves only here. */
function aWorld() {
  const clock = fixedClock();
  const metrics = prometheusMetrics();
  const ports = { ...memoryPorts(clock), metrics, monotonicMs: () => clock.now().getTime() };
  const start = async (replica: string = randomUUID()) => {
    const parts = {
      database: READY,
      engine: READY,
      image: READY,
      disk: READY,
      isolation: READY,
      resources: READY,
    };
    const readiness = async () => ({ status: 'ready' as const, parts });
    const service = await aService(ports, { readiness, replica });
    return { service, parts, replica };
  };
  type Started = Awaited<ReturnType<typeof start>>;
  /** Each of them records every five seconds for so long. */
  const pass = async (seconds: number, ...running: readonly Started[]): Promise<void> => {
    for (let left = seconds; left > 0; left -= 5) {
      clock.advance(5 * SECOND_MS);
      for (const { service } of running) await service.recordHealth();
    }
  };
  const outages = async ({ service }: Started, root: Person, query = '') => {
    const answer = await as(service, root)('GET', `/api/admin/health/history${query}`);
    return answer.json().outages as { component: string; reason: string; seconds: number | null }[];
  };
  const measured = async (): Promise<string> => (await metrics.text()).body;
  return { clock, ports, start, pass, outages, measured };
}

const brief = (all: readonly { component: string; reason: string; seconds: number | null }[]) =>
  all.map(({ component, reason, seconds }) => [component, reason, seconds]);

t.test('an outage is recorded from its start to its end, with an event for administrators', async (t) => {
  const { start, pass, outages, measured } = aWorld();
  const one = await start();
  const root = await anAdmin(one.service);
  const ada = await aPerson(one.service, 'ada');
  const address = await listening(t, one.service);
  const reader = (await anApiToken(one.service, root, { scopes: ['write'] })).token;
  const administering = (await anApiToken(one.service, root, { scopes: ['admin'] })).token;
  const follow = (token: string, after: string | null = null) => eventClient(address, token, after);
  const [ofRoot, ofAda, ofReader] = [await follow(root.token), await follow(ada.token), await follow(reader)];
  const health = async () => {
    const { components } = (await as(one.service, root)('GET', '/api/admin/health')).json();
    return components.find(({ component }: { component: string }) => component === 'engine');
  };
  await pass(60, one);
  t.match(await health(), { state: 'ready', reason: null, since: null });
  one.parts.engine = SILENT;
  await pass(240, one);
  t.match(await health(), {
    state: 'degraded',
    reason: 'unreachable',
    summary: 'Engine unreachable',
    detail: 'does not answer',
    advice: SILENT.mend,
    since: '2026-01-01T00:01:05.000Z',
  });
  t.same(brief(await outages(one, root)), [['engine', 'unreachable', null]]);
  t.match(await measured(), /^berth_component_state\{component="engine"\} 1$/m);
  one.parts.engine = READY;
  await pass(5, one);
  t.match(await measured(), /^berth_component_state\{component="engine"\} 0$/m);
  t.match(await outages(one, root), [
    { summary: 'Engine unreachable', from: '2026-01-01T00:01:05.000Z', seconds: 240 },
  ]);
  t.match(await health(), { state: 'ready', since: '2026-01-01T00:05:05.000Z' });
  t.same(await outages(one, root, '?component=disk'), []);
  await ofRoot.until(() => ofRoot.messages.length >= 2);
  t.match(ofRoot.messages, [
    { type: 'health_changed', data: { name: 'engine', status: 'degraded', to: null } },
    { type: 'health_changed', data: { name: 'engine', status: 'ready' } },
  ]);
  t.same([...ofAda.messages, ...ofReader.messages], [], 'and for no token without that scope');
  const first = ofRoot.messages[0]?.id ?? '';
  const [again, readAgain] = [await follow(administering, first), await follow(reader, first)];
  await again.until(() => again.messages.length >= 1);
  one.parts.engine = LOST;
  await pass(5, one);
  await again.until(() => again.messages.length >= 2);
  t.same(readAgain.messages, [], 'nor afterwards');
});

t.test('while the database fails, the metric has what this process finds, and nothing older', async (t) => {
  const { ports, start, pass, measured } = aWorld();
  const [one, two] = [await start(), await start()];
  const states = async () =>
    Object.fromEntries(
      [...(await measured()).matchAll(/^berth_component_state\{component="(\w+)"\} (\d)$/gm)].map(
        ([, component, state]) => [component, Number(state)],
      ),
    );
  const own = { database: 2, engine: 0, image: 0, disk: 1, isolation: 0 };
  await pass(120, one, two);
  two.parts.engine = LOST;
  await pass(5, one, two);
  await pass(5, one);
  t.same(await states(), { database: 0, engine: 2, image: 0, disk: 0, isolation: 0, replicas: 0 });
  one.parts.disk = SILENT;
  one.parts.database = LOST;
  await pass(5, one);
  t.same(await states(), own, 'it does not answer');
  one.parts.database = READY;
  one.parts.disk = READY;
  await pass(5, one);
  one.parts.disk = SILENT;
  const { health } = ports.storage.repositories;
  const { lock } = health;
  Object.assign(health, { lock: () => Promise.reject(new Error('too many connections')) });
  await t.rejects(one.service.recordHealth(), { message: 'too many connections' });
  t.same(await states(), own, 'it answers, and refuses to write');
  Object.assign(health, { lock });
  await pass(5, one);
  t.match(await states(), { database: 0, disk: 1 });
});

t.test('an outage of the database is written afterwards, once', async (t) => {
  const { start, pass, outages } = aWorld();
  const [one, two] = [await start(), await start()];
  const root = await anAdmin(one.service);
  await pass(120, one, two);
  for (const { parts } of [one, two]) parts.database = LOST;
  await pass(300, one, two);
  t.same(await outages(one, root), []);
  for (const { parts } of [one, two]) parts.database = READY;
  await pass(5, one, two);
  t.same(brief(await outages(one, root)), [['database', 'unreachable', 300]], 'and nobody is called silent');
});

t.test('a killed service ends its outages at the next start, and says how long it was away', async (t) => {
  const { clock, start, pass, outages } = aWorld();
  const one = await start();
  const root = await anAdmin(one.service);
  one.parts.engine = SILENT;
  await pass(60, one);
  clock.advance(600 * SECOND_MS);
  const again = await start(one.replica);
  await pass(5, again);
  t.same(brief(await outages(again, root)), [
    ['service', 'not_running', 600],
    ['engine', 'unreachable', 55],
  ]);
  await again.service.noteStop();
  clock.advance(100 * SECOND_MS);
  await pass(5, await start(one.replica));
  t.same(brief(await outages(again, root)).slice(0, 1), [['service', 'stopped', 100]]);
});

t.test('the service was away for days', async (t) => {
  const { clock, start, pass, outages } = aWorld();
  const one = await start();
  const root = await anAdmin(one.service);
  one.parts.engine = SILENT;
  await pass(60, one);
  const days = 3 * 86_400;
  clock.advance(days * SECOND_MS);
  const again = await start(randomUUID());
  await pass(5, again);
  const later = await signedIn(again.service, root, 'root');
  t.same(brief(await outages(again, later)), [
    ['service', 'not_running', days],
    ['engine', 'unreachable', 55],
  ]);
  const { replicas } = (await as(again.service, later)('GET', '/api/admin/health')).json();
  t.same(
    valuesOf(replicas, 'replica'),
    [again.replica],
    'and a process that has been gone for more than a day is forgotten',
  );
});

t.test('a killed process of several is missed until it returns', async (t) => {
  const { start, pass, outages } = aWorld();
  const [one, two] = [await start(), await start()];
  const root = await anAdmin(one.service);
  await pass(120, one, two);
  await pass(60, one);
  t.same(await outages(one, root), []);
  await pass(5, one);
  const [outage] = await outages(one, root);
  t.match(outage, { component: 'replicas', reason: 'silent', detail: `no heartbeat of ${two.replica}` });
  const { replicas } = (await as(one.service, root)('GET', '/api/admin/health')).json();
  const seen = new Map(
    replicas.map((each: { replica: string; state: string }) => [each.replica, each.state]),
  );
  t.same([seen.get(one.replica), seen.get(two.replica)], ['running', 'silent']);
  await pass(5, one, await start(two.replica));
  await pass(5, one);
  t.same(brief(await outages(one, root)), [['replicas', 'silent', 10]]);
});

t.test('isolation that is being tested is neither ready nor a fault', async (t) => {
  const { ports, start, pass, outages, measured } = aWorld();
  const one = await start();
  const root = await anAdmin(one.service);
  one.parts.isolation = { status: 'testing', detail: 'being tested' };
  await pass(5, one);
  const { components, replicas } = (await as(one.service, root)('GET', '/api/admin/health')).json();
  const isolation = components.find(({ component }: { component: string }) => component === 'isolation');
  t.match(isolation, { state: 'testing', reason: null, summary: 'Isolation being tested', advice: null });
  t.match(replicas[0].components.at(-1), { component: 'isolation', state: 'testing' });
  t.same(await outages(one, root), []);
  t.match(await measured(), /^berth_component_state\{component="isolation"\} 0$/m);
  const { reports } = await ports.storage.repositories.health.reports();
  t.notMatch(JSON.stringify(reports), 'testing', 'which older versions do not know');
});
