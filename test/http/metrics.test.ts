import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import t from 'tap';
import { WebSocket } from 'ws';
import { prometheusMetrics } from '../../src/adapters/prometheus/prometheus-metrics.ts';
import type { ComposeOptions } from '../../src/app/main/compose-options.ts';
import { waitFor } from '../support/patience.ts';
import { anAdmin, anApiToken, aPerson, aService, as, ORIGIN } from '../support/service/service.ts';
import { aContainerOf, fakeTerminals, listening, openTerminal } from '../support/terminal/terminals.ts';

const aMeasured = (options: Partial<ComposeOptions> = {}) =>
  aService({ metrics: prometheusMetrics() }, options);
type Service = Awaited<ReturnType<typeof aMeasured>>;

const local = { host: '127.0.0.1:8080' };
const scrape = async (service: Service): Promise<string> =>
  (await as(service, null)('GET', '/metrics', undefined, local)).body;

/** The value of one line; null when there is none. */
async function sample(service: Service, line: string): Promise<number | null> {
  const found = (await scrape(service)).split('\n').find((each) => each.startsWith(`${line} `));
  return found === undefined ? null : Number(found.slice(line.length + 1));
}

t.test('requests are counted by route, never by address, and timed', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  await as(service, ada)('GET', '/api/containers/99999999-9999-4999-8999-999999999999');
  await as(service, ada)('GET', '/api/containers/secret-name');
  await as(service, ada)('GET', '/no/such/page');
  const label = 'method="GET",route="/api/containers/:id"';
  t.equal(await sample(service, `berth_http_requests_total{${label},status="404"}`), 2);
  t.equal(await sample(service, `berth_http_request_duration_seconds_count{${label}}`), 2);
  t.equal(await sample(service, 'berth_http_requests_total{method="GET",route="unknown",status="404"}'), 1);
  t.notMatch(await scrape(service), /secret-name|such\/page|99999999-9999/);
});

t.test('authentications are counted by credential and outcome', async (t) => {
  const service = await aMeasured();
  const root = await anAdmin(service);
  const reader = await anApiToken(service, root, { scopes: ['read'] });
  await as(service, reader)('GET', '/api/me');
  await as(service, reader)('GET', '/api/admin/users');
  await as(service, { token: `svc_${'0'.repeat(64)}` })('GET', '/api/me');
  await as(service, { token: 'x.y.z' })('GET', '/api/me');
  await as(service, null)('GET', '/api/me');
  const count = (credential: string, outcome: string) =>
    sample(service, `berth_authentications_total{credential="${credential}",outcome="${outcome}"}`);
  t.equal(await count('api_token', 'ok'), 1);
  t.equal(await count('api_token', 'insufficient_scope'), 1);
  t.equal(await count('api_token', 'api_token_rejected'), 1);
  t.equal(await count('login', 'unauthorized'), 1);
  t.equal(await count('none', 'unauthorized'), 1);
});

t.test('operations are counted by step, and calls of the engine by kind, with their outcomes', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  const { db_id: id } = (await as(service, ada)('POST', '/api/containers', { name: 'dev' })).json();
  await as(service, ada)('POST', `/api/containers/${id}/stop`);
  const step = (kind: string, name: string) =>
    sample(service, `berth_operation_steps_total{kind="${kind}",step="${name}",outcome="ok"}`);
  t.same([await step('create', 'commit'), await step('stop', 'stop_old')], [1, 1]);
  const call = (kind: string, outcome: string) =>
    sample(service, `berth_engine_call_duration_seconds_count{kind="${kind}",outcome="${outcome}"}`);
  t.same([await call('runtime.create', 'ok'), await call('runtime.stop', 'ok')], [1, 1]);
});

t.test('terminals count their bytes both ways, and how many are open', async (t) => {
  const backend = fakeTerminals();
  const service = await aService({ metrics: prometheusMetrics(), terminalBackend: backend });
  const ada = await aPerson(service, 'ada');
  const id = await aContainerOf(service, ada);
  const bytes = (direction: string) =>
    sample(service, `berth_terminal_bytes_total{direction="${direction}"}`);
  t.same([await sample(service, 'berth_terminals_open'), await bytes('in')], [0, 0]);
  const { socket, output } = await openTerminal(await listening(t, service), id, ada);
  t.equal(await sample(service, 'berth_terminals_open'), 1);
  const [pty] = backend.opened;
  socket.send(Buffer.from('12345'));
  pty?.say('x'.repeat(1_000));
  await waitFor(() => pty?.typed() === '12345' && output().length >= 1_000);
  t.same([await bytes('in'), await bytes('out')], [5, 1_000]);
});

t.test('how late events go out is counted where they do', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  const address = await listening(t, service);
  const events = new WebSocket(`${address}/api/events`, ['berth.events.v1', `bearer.${ada.token}`], {
    origin: ORIGIN,
  });
  await once(events, 'open');
  const told = once(events, 'message');
  await aContainerOf(service, ada);
  await told;
  const sent = await sample(service, 'berth_event_lag_seconds_count');
  t.ok(sent !== null && sent > 0, `${sent}`);
});

t.test('the process itself is measured, too', async (t) => {
  const text = await scrape(await aMeasured());
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'berth_event_lag_seconds',
  ]) {
    t.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
  }
});

t.test('only this machine and administrators read them', async (t) => {
  const service = await aMeasured();
  const status = async (headers: Record<string, string>) =>
    (await as(service, null)('GET', '/metrics', undefined, { ...local, ...headers })).statusCode;
  t.equal(await status({}), 200);
  t.equal(await status({ host: 'localhost' }), 200);
  t.equal(await status({ host: '[::1]:8080' }), 200);
  const forwarded = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-real-ip',
    'forwarded',
    'via',
  ];
  for (const header of forwarded) t.equal(await status({ [header]: '127.0.0.1' }), 401, header);
  t.equal(await status({ host: 'berth.example.org' }), 401, 'somebody led a browser here, or a proxy did');
  t.equal(await status({ host: '127.0.0.1.example.org' }), 401);

  const port = Number(new URL(await listening(t, service)).port);
  const spoken = async (version: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.end(`GET /metrics HTTP/${version}\r\nHost: ${local.host}\r\nConnection: close\r\n\r\n`);
    return (await textOf(socket)).slice(9, 12);
  };
  t.same([await spoken('1.1'), await spoken('1.0')], ['200', '401'], 'as a proxy that says nothing else');

  const remote = await service.http.inject({ url: '/metrics', remoteAddress: '192.0.2.1', headers: local });
  t.equal(remote.statusCode, 401);
  const behind = await aMeasured({ localMetrics: false });
  const plain = await as(behind, null)('GET', '/metrics', undefined, local);
  t.equal(plain.statusCode, 401, 'where there may be a proxy, nobody counts as local');
  const admin = await anAdmin(behind);
  t.equal((await as(behind, admin)('GET', '/metrics', undefined, local)).statusCode, 200);
});
