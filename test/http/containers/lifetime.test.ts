import t from 'tap';
import { memoryAccess, memoryBusHub, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster, inMemory, NDJSON } from '../../support/service/cluster.ts';
import { aServiceInTime } from '../../support/service/factors.ts';
import { refusesByField } from '../../support/service/refusals.ts';
import { anAdmin, aPerson, aService, as, auditOf, small, stateOf } from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { listening } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

/** Ada's container with this lifetime; `pass` lets time go on, with a pass every few seconds. */
async function aLiving(body: object) {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const made = await call('POST', '/api/containers', { name: 'dev', ...small, ...body });
  const url = `/api/containers/${made.json().db_id}`;
  const state = stateOf(service);
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 5) {
      service.clock.advance(Math.min(5, left) * 1_000);
      await service.keepUses();
      await service.endContainers();
    }
  };
  const now = async () => (await call('GET', url)).json();
  const events = (type: string) => state.events.filter((one) => one.type === type);
  const lifetime = async () => (await call('GET', `${url}/lifetime`)).json();
  return { service, call, made, url, state, pass, now, events, lifetime };
}

t.test("a tier's longest lifetimes hold for new containers, changes and each start", async (t) => {
  const { service, call, url, now, pass } = await aLiving({});
  const root = as(service, await anAdmin(service));
  t.equal((await now()).lifetime, null);
  const limits = { max_ttl_seconds: 3_600, max_idle_seconds: 600 };
  t.match((await root('PATCH', '/api/admin/tiers/free', limits)).json(), limits);
  t.match((await root('PATCH', '/api/admin/tiers/free', { max_ttl_seconds: 59 })).json(), {
    fields: { max_ttl_seconds: String },
  });
  t.equal((await now()).lifetime, null, 'a running container keeps its own until it starts again');
  for (const body of [
    { ttl_seconds: 3_601 },
    { idle_seconds: 601 },
    { keep_seconds: 3_601 },
    { idle_seconds: null },
  ])
    t.match((await call('PATCH', `${url}/lifetime`, body)).json(), {
      fields: { [Object.keys(body)[0] ?? '']: /in your tier/ },
    });
  const long = { name: 'long', ...small, ttl_seconds: 7_200 };
  t.match((await call('POST', '/api/containers', long)).json(), { fields: { ttl_seconds: String } });
  const other = await call('POST', '/api/containers', { name: 'other', ...small });
  t.match(other.json().lifetime, { idle_seconds: 600 });
  await call('POST', `${url}/stop`);
  await call('POST', `${url}/start`);
  t.match((await now()).lifetime, { idle_seconds: 600, next_end: { because: 'idle' } });
  await call('PATCH', `${url}/lifetime`, { ttl_seconds: 300 });
  await pass(300);
  t.equal((await now()).status, 'stopped');
  await call('POST', `${url}/start`);
  const { ends_at } = (await call('GET', `${url}/lifetime`)).json();
  t.equal(
    Date.parse(ends_at) - service.clock.now().getTime(),
    3_600_000,
    'a start after the end has an end again',
  );
});

t.test("a tier's longest lifetime counts from the start, however often more is asked for", async (t) => {
  const { service, call, url, now, pass } = await aLiving({});
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/tiers/free', { max_ttl_seconds: 3_600 });
  await pass(7_200);
  const change = (body: object) => call('PATCH', `${url}/lifetime`, body);
  t.equal((await change({ ttl_seconds: 3_000 })).statusCode, 200, 'an end where there was none');
  await call('POST', `${url}/stop`);
  t.equal((await change({ ttl_seconds: 3_600, keep_seconds: 3_600 })).statusCode, 200, 'stopped, it may');
  await pass(1_000);
  await call('POST', `${url}/start`);
  const last = service.clock.now().getTime() + 3_600_000;
  await pass(1_800);
  for (const field of ['ttl_seconds', 'keep_seconds']) {
    const late = await change({ [field]: 1_801 });
    t.equal(late.statusCode, 400);
    t.match(late.json().fields, { [field]: `must end by ${new Date(last).toISOString()}: ` });
    t.equal((await change({ [field]: 1_800 })).statusCode, 200);
  }
  await pass(1_800);
  t.equal((await now()).status, 'stopped');
});

t.test('an ephemeral container needs no name, is deleted at its end, and can be restored', async (t) => {
  const { made, call, url, pass, events, service, state } = await aLiving({
    name: undefined,
    ephemeral: true,
    ttl_seconds: 600,
    labels: { run: '7', team: 'a' },
  });
  t.equal(made.statusCode, 201);
  t.match(made.json(), {
    name: /^sandbox-[0-9a-f]{8}$/,
    labels: { run: '7', team: 'a' },
    lifetime: { ephemeral: true, on_idle: 'delete', next_end: { action: 'delete', because: 'time' } },
  });
  await pass(600);
  t.equal((await call('GET', url)).statusCode, 404);
  t.same(
    events('container_ending').map(({ data }) => data['action']),
    ['delete', 'delete'],
  );
  t.match(events('container_deleted'), [
    { data: { status: 'deleted', reason: /^deleted at the end of its time/ } },
  ]);
  t.match(auditOf(service, 'container_deleted'), [
    { userId: null, userAgent: 'berth', details: made.json().db_id },
  ]);
  t.equal(state.volumes.size, 0, 'the volume is kept');
  t.match((await call('GET', '/api/containers?deleted=true')).json().containers, [
    { db_id: made.json().db_id },
  ]);
  t.equal((await call('POST', `${url}/restore`)).statusCode, 200);
  await pass(7_200);
  t.match(
    (await call('GET', url)).json(),
    { status: 'stopped', lifetime: null },
    'who restores it may keep it',
  );
});

t.test('an idle container is warned twice, stopped with a reason, and may run again', async (t) => {
  const { call, url, pass, now, events, lifetime } = await aLiving({ idle_seconds: 3_600 });
  t.match((await now()).lifetime, { ephemeral: false, on_idle: 'stop', idle_seconds: 3_600, ends_at: null });
  await pass(3_590);
  t.match(await now(), { status: 'running' });
  t.equal(events('container_ending').length, 2);
  t.match(await lifetime(), { activity: [], would_stop: /^in 10 s: nothing has used it since its start/ });
  await pass(10);
  t.match(await now(), { status: 'stopped', status_reason: 'stopped because nothing used it for 3600 s' });
  t.match(await lifetime(), { next_end: null, would_stop: 'not now: it is stopped' });
  t.equal((await call('POST', `${url}/start`)).statusCode, 200);
  await pass(600);
  t.match(await now(), { status: 'running', status_reason: null }, 'its start begins anew');
});

t.test('a change that leaves everything as it is makes no record and no event', async (t) => {
  const { service, call, url, events, lifetime } = await aLiving({ idle_seconds: 3_600 });
  const before = await lifetime();
  for (const body of [{}, { idle_seconds: 3_600 }, { on_idle: 'stop', ttl_seconds: null }]) {
    const answer = await call('PATCH', `${url}/lifetime`, body);
    t.equal(answer.statusCode, 200);
    t.same(answer.json().idle_seconds, before.idle_seconds);
  }
  t.equal(events('container_updated').length, 0);
  t.same(auditOf(service, 'lifetime_changed'), []);
  for (const body of [
    { idle_seconds: 600 },
    { on_idle: 'delete' },
    { ttl_seconds: 900 },
    { keep_seconds: 60 },
  ])
    t.equal((await call('PATCH', `${url}/lifetime`, body)).statusCode, 200);
  t.equal(auditOf(service, 'lifetime_changed').length, 4);
});

t.test('nothing that is used is stopped: a command, an open terminal, a program at work', async (t) => {
  const { service, call, url, pass, now, lifetime, events, made } = await aLiving({ idle_seconds: 60 });
  const running = call('POST', `${url}/exec`, { command: ['sleep', '3600'], timeout_seconds: 3_600 }, NDJSON);
  await waitFor(async () => (await lifetime()).activity.length > 0, { what: 'the command is recorded' });
  await pass(600);
  t.match(await now(), { status: 'running' });
  t.match(await lifetime(), { activity: [{ kind: 'command' }], would_stop: /a command runs/ });
  const address = await listening(t, service);
  const token = (await call('POST', '/api/tokens', { name: 'x' })).json().token;
  const terminal = await terminalClient({ address, dbId: made.json().db_id, token });
  await pass(600);
  t.match((await lifetime()).would_stop, /a terminal is open/);
  t.equal(events('container_ending').length, 0, 'nor is it warned');
  terminal.socket.close();
  service.cutOff();
  await running.catch(() => undefined);
});

t.test('a program that uses the processor keeps its container, although nobody watches', async (t) => {
  const runtime = memoryRuntime();
  let cpuMillicores = 500;
  const load = async () => ({ at: new Date(), cpuMillicores, memoryBytes: 1, pids: 1, memoryKills: 0 });
  const service = await aService({ runtime, insight: { ...memoryAccess(runtime).insight, load } });
  const call = as(service, await aPerson(service, 'ada'));
  const made = await call('POST', '/api/containers', { name: 'dev', ...small, idle_seconds: 60 });
  const url = `/api/containers/${made.json().db_id}`;
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 5) {
      service.clock.advance(5_000);
      await service.endContainers();
    }
  };
  await pass(300);
  t.match((await call('GET', url)).json(), { status: 'running' });
  t.match((await call('GET', `${url}/lifetime`)).json().activity, [{ kind: 'processor' }]);
  cpuMillicores = 3;
  await pass(120);
  t.match((await call('GET', url)).json(), { status: 'stopped' });
});

t.test('a quiet process keeps its container when the service returns after the idle time', async (t) => {
  const { service, call, url, now } = await aLiving({ idle_seconds: 60 });
  await call('POST', `${url}/processes`, { command: ['sleep', '3600'] });
  service.clock.advance(3_600_000);
  for (let left = 300; left > 0; left -= 5) {
    service.clock.advance(5_000);
    await service.endContainers();
  }
  t.match(await now(), { status: 'running' });
});

t.test('it is kept for longer, and its terminals and other processes hear of the end once', async (t) => {
  const shared = { ...inMemory(), bus: memoryBusHub().join };
  const cluster = await aCluster(t, {
    ...shared,
    monotonicMs: () => shared.clock.now().getTime(),
  } as typeof shared);
  const { here, there, ada, dbId } = cluster;
  const call = as(here, ada);
  const url = `/api/containers/${dbId}/lifetime`;
  const notices: string[] = [];
  const terminal = await cluster.open(ada, 'main', cluster.addresses[1]);
  terminal.socket.on('message', (data, isBinary) => {
    if (!isBinary && String(data).includes('will be')) notices.push(JSON.parse(String(data)).message);
  });
  t.match((await call('PATCH', url, { ttl_seconds: 600 })).json(), { next_end: { because: 'time' } });
  const { clock } = shared as unknown as { clock: { advance(ms: number): void } };
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 5) {
      clock.advance(5_000);
      await Promise.all([here.endContainers(), there.endContainers()]);
    }
  };
  await pass(590);
  await waitFor(() => notices.length === 2, { what: 'two notices' });
  t.match(notices, [/in 5 min, because its time ends/, /in 1 min/]);
  const kept = await call('PATCH', url, { keep_seconds: 3_600 });
  t.match(kept.json().would_stop, /^in 3600 s: it was kept until then/);
  await pass(3_590);
  t.match((await call('GET', `/api/containers/${dbId}`)).json(), { status: 'running' });
  await pass(10);
  t.match((await call('GET', `/api/containers/${dbId}`)).json(), { status: 'stopped' });
  const { events, audit } = stateOf(here);
  t.equal(events.filter(({ type }) => type === 'container_stopped').length, 1, 'one process stops it');
  t.equal(audit.filter(({ action }) => action === 'container_stopped').length, 1);
  t.equal(events.filter(({ type }) => type === 'container_ending').length, 4);
  t.match(await terminal.closed(), [4009, 'container stopped']);
});

t.test('a bad lifetime is refused by field, and changes nothing', async (t) => {
  const { call, url, now } = await aLiving({ ephemeral: true, ttl_seconds: 3_600 });
  await refusesByField<object>(t, (body) => call('PATCH', `${url}/lifetime`, body), [
    [{ ttl_seconds: 59 }, 'ttl_seconds'],
    [{ idle_seconds: 604_801 }, 'idle_seconds'],
    [{ keep_seconds: 1.5 }, 'keep_seconds'],
    [{ on_idle: 'pause' }, 'on_idle'],
    [{ on_idle: 'stop' }, 'on_idle'],
    [{ ttl_seconds: null }, 'idle_seconds'],
    [{ ends_at: 'x' }, 'ends_at'],
  ]);
  const create = (body: object) => call('POST', '/api/containers', { ...small, ...body });
  t.match((await create({})).json(), { error: 'name is required' });
  t.match((await create({ name: 'x', ephemeral: true, on_idle: 'stop' })).json(), {
    fields: { on_idle: /delete/ },
  });
  t.match((await create({ name: 'x', labels: { 'a b': 'c' } })).json(), { fields: { labels: /keys/ } });
  t.match((await call('GET', '/api/containers?label=x')).json(), { fields: { label: /key:value/ } });
  t.match((await now()).lifetime, { kept_until: null });
});

t.test('labels select containers, whatever their values', async (t) => {
  const { call } = await aLiving({ labels: { run: '7', note: "a' or '1'='1" } });
  await call('POST', '/api/containers', { name: 'other', ...small, labels: { run: '8' } });
  const names = async (query: string) =>
    valuesOf((await call('GET', `/api/containers?${query}`)).json().containers, 'name');
  t.same(await names('label=run:7'), ['dev']);
  t.same(await names(`label=run:7&label=${encodeURIComponent("note:a' or '1'='1")}`), ['dev']);
  t.same(await names('label=run:7&label=run:8'), []);
  t.same(await names(`label=${encodeURIComponent("run:8' or '1'='1")}`), []);
});

t.test('deleted ephemeral containers make room for new ones, within a bound', async (t) => {
  const { service, call } = await aLiving({ ephemeral: true });
  const makeAndDelete = async (): Promise<number> => {
    const made = await call('POST', '/api/containers', { ...small, ephemeral: true });
    if (made.statusCode === 201) await call('DELETE', `/api/containers/${made.json().db_id}`);
    return made.statusCode;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 16; n += 1) statuses.push(await makeAndDelete());
  t.same(
    statuses,
    [...Array(14).fill(201), 409, 409],
    'three times the containers of the tier, one of them live',
  );
  t.equal(auditOf(service, 'container_purged').length, 5);
  await service.collectVolumes();
  t.equal(await makeAndDelete(), 201);
});
