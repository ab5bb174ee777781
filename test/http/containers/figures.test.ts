import t from 'tap';
import { fixedClock, memoryHost, memoryPorts, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import {
  HOUR_MINUTES,
  hourOf,
  type Measured,
  withMeasured,
} from '../../../src/domain/containers/figures/figures.ts';
import { waitForValue } from '../../support/patience.ts';
import { aPerson, aService, as, type Bearer } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

const START = new Date('2026-01-01T00:00:00Z');
const after = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);
const measured = (seconds: number, cpuMillicores: number, memoryKills: number | null = 0): Measured => ({
  at: after(seconds),
  cpuMillicores,
  memoryBytes: cpuMillicores * 10,
  memoryKills,
});
const figuresOf = (...all: Measured[]) => {
  const [first, ...rest] = all;
  if (first === undefined) throw new Error('no measurement');
  return rest.reduce(withMeasured, withMeasured(null, first));
};

t.test('a minute has the mean of the processor and the peak of the memory; gaps stay gaps', async (t) => {
  const figures = figuresOf(measured(0, 100), measured(20, 300), measured(40, 200), measured(130, 50));
  const hour = hourOf(figures, after(130));
  t.equal(hour.length, HOUR_MINUTES);
  t.match(hour.slice(-3), [{ cpuMillicores: 200, memoryBytes: 3000 }, null, { cpuMillicores: 50 }]);
  t.ok(hour.slice(0, -3).every((one) => one === null));
  t.equal(figures.cpuMillicores, 50);
});

t.test('no more than an hour is kept', async (t) => {
  const figures = figuresOf(...Array.from({ length: 300 }, (_, index) => measured(index * 30, index)));
  t.equal(figures.minutes.length, HOUR_MINUTES);
  t.ok(hourOf(figures, after(299 * 30)).every((one) => one !== null));
});

t.test('a program ended for memory is noticed when the count grows, not when it begins anew', async (t) => {
  const cases: [Measured[], Date | null][] = [
    [[measured(0, 1, 4)], null],
    [[measured(0, 1, 4), measured(20, 1, 5), measured(40, 1, 5)], after(20)],
    [[measured(0, 1, 4), measured(20, 1, 0)], null],
    [[measured(0, 1, null), measured(20, 1, 3)], null],
  ];
  for (const [all, killedAt] of cases) t.same(figuresOf(...all).killedAt, killedAt);
});

async function aScene() {
  const clock = fixedClock(START);
  const base = memoryPorts(clock);
  let calls = 0;
  const insight = {
    ...base.insight,
    load: async () => {
      calls += 1;
      return { ...measured(0, 250), at: clock.now(), pids: 1 };
    },
  };
  const service = await aService({ ...base, insight });
  const ada = await aPerson(service, 'ada');
  const figures = async (who: Bearer, ...ids: string[]) =>
    (await as(service, who)('GET', `/api/figures?ids=${ids.join(',')}`)).json().figures;
  const made = await as(service, ada)('POST', '/api/containers', { name: 'dev' });
  return { service, clock, ada, id: made.json().db_id as string, figures, calls: () => calls };
}

t.test('one measurement serves all viewers, and none is made without one', async (t) => {
  const { service, clock, ada, id, figures, calls } = await aScene();
  await service.sampleFigures();
  t.equal(calls(), 0);
  const [first] = await figures(ada, id);
  t.match(first, { db_id: id, time: null, cpu_millicores: null });
  await waitForValue(
    async () => calls(),
    (count) => count === 1,
  );
  for (let checks = 0; checks < 5; checks += 1) await figures(ada, id);
  t.equal(calls(), 1, 'a request asks no engine');
  clock.advance(60_000);
  await service.sampleFigures();
  const [now] = await figures(ada, id);
  t.match(now, { cpu_millicores: 250, memory_bytes: 2500, killed_at: null });
  t.same(now.hour.cpu_millicores.slice(-3), [null, 250, 250]);
  clock.advance(16 * 60_000);
  await service.sampleFigures();
  t.equal(calls(), 2, 'a quarter of an hour after the last request it is measured no more');
});

t.test('figures are those of running containers that the caller may see', async (t) => {
  const { service, ada, id, figures } = await aScene();
  t.same(await figures(await aPerson(service, 'eve'), id), []);
  t.same(await figures(ada, id.replaceAll(/[0-9a-f]/g, '0')), []);
  await as(service, ada)('POST', `/api/containers/${id}/stop`);
  t.same(await figures(ada, id), []);
});

t.test('the list is sorted by what is in use now, read once for everybody; unknown comes last', async (t) => {
  const runtime = memoryRuntime();
  const host = memoryHost(runtime);
  let readings = 0;
  const loads = () => {
    readings += 1;
    return host.loads();
  };
  const service = await aService({ runtime, host: { figures: () => host.figures(), loads } });
  const call = as(service, await aPerson(service, 'ada'));
  const made = async (name: string, cpu_shares: number, cpuMillicores: number, memoryBytes: number) => {
    const asked = { name, cpu_shares, memory_mb: 256, disk_mb: 1000 };
    const { id, db_id } = (await call('POST', '/api/containers', asked)).json();
    host.taken.set(id, { cpuMillicores, memoryBytes });
    return db_id as string;
  };
  await made('busy', 1000, 400, 100);
  await made('full', 100, 90, 200);
  await call('POST', `/api/containers/${await made('off', 100, 0, 0)}/stop`);
  const names = async (sort: string) =>
    valuesOf((await call('GET', `/api/containers?sort=${sort}`)).json().containers, 'name');
  t.same(await names('-name'), ['off', 'full', 'busy']);
  t.equal(readings, 0, 'other orders measure nothing');
  t.same(await names('-cpu'), ['full', 'busy', 'off'], 'by the share of the limit');
  t.same(await names('cpu'), ['busy', 'full', 'off']);
  t.same(await names('-memory'), ['full', 'busy', 'off']);
  t.equal(readings, 1);
  for (const { spec } of runtime.boxes.values()) {
    const volume = runtime.volumes.get(spec.volume);
    if (volume !== undefined)
      volume.usedBytes = (spec.resources.cpuMillicores === 1000 ? 300 : 10) * 1_048_576;
  }
  await service.measureDisks();
  t.equal((await names('-disk'))[0], 'busy');
});
