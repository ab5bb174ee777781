import { mock } from 'node:test';
import t from 'tap';
import { type ConnectionEnd, nextTry } from '../../src/agent/connection/next-try.ts';
import { connectedAgent, unconnectedAgent } from '../support/agent/agent.ts';
import { aShell, testService } from '../support/agent/service.ts';
import { waitFor } from '../support/patience.ts';

const refused = (status: number, code: string | null = null, retryAfterSeconds: number | null = null) =>
  ({ kind: 'refused', status, code, words: 'words', retryAfterSeconds }) as const;
const closed = (reason: string) => ({ kind: 'closed', reason, words: '' }) as const;
const broken = { kind: 'broken', words: '' } as const;

t.test('what follows the end of a connection', async (t) => {
  const cases: [ConnectionEnd, { kind: string; delayMs?: number; exitCode?: number }][] = [
    [broken, { kind: 'again', delayMs: 250 }],
    [refused(401), { kind: 'end', exitCode: 77 }],
    [refused(403), { kind: 'end', exitCode: 77 }],
    [refused(400), { kind: 'end', exitCode: 78 }],
    [refused(426), { kind: 'end', exitCode: 78 }],
    [refused(409, 'agent_limit_reached'), { kind: 'end', exitCode: 69 }],
    [refused(409, 'other'), { kind: 'again', delayMs: 250 }],
    [refused(404), { kind: 'again', delayMs: 250 }],
    [refused(503), { kind: 'again', delayMs: 250 }],
    [refused(429, null, 30), { kind: 'again', delayMs: 30_000 }],
    [refused(503, null, 86_400), { kind: 'again', delayMs: 60_000 }],
    [closed('stopped'), { kind: 'again', delayMs: 5_000 }],
    [closed('restarting'), { kind: 'again', delayMs: 1_000 }],
    [closed('unauthorized'), { kind: 'again', delayMs: 250 }],
    [closed('a newer reason'), { kind: 'again', delayMs: 250 }],
    [closed('replaced'), { kind: 'end', exitCode: 75 }],
    [closed('forgotten'), { kind: 'end', exitCode: 76 }],
  ];
  for (const [end, next] of cases) t.match(nextTry(end, 0, 0), next, JSON.stringify(end));
  t.same(
    [0, 1, 2, 3, 4, 5, 6, 1_000].map((failures) => nextTry(broken, failures, 1)),
    [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000].map((delayMs) => ({ kind: 'again', delayMs })),
    'delays grow up to 15 s, for ever',
  );
  for (const failures of [0, 9, 1_000])
    for (const random of [0, 0.5, 1]) {
      const { delayMs = Number.POSITIVE_INFINITY } = nextTry(closed('stopped'), failures, random) as {
        delayMs?: number;
      };
      t.ok(delayMs >= 5_000 && delayMs <= 10_000, `after a stop it is back within 15 s: ${delayMs}`);
    }
});

t.test('it says who it is, and its token is nowhere but in the header', async (t) => {
  const { service, said } = await connectedAgent(t);
  t.match(service.greetings[0], {
    version: 1,
    session: null,
    received: 0,
    agent: { name: 'host', version: '0.0.0', platform: 'linux', user: String, home: /^\// },
  });
  const { url, headers } = service.requests[0] ?? {};
  t.equal(url, `/api/agents/connect?agent=${service.greetings[0]?.agent.id}`);
  t.match(headers, { authorization: 'Bearer svc_test', 'sec-websocket-protocol': 'berth.agent.v1' });
  t.notMatch([url, ...said].join(), 'svc_test');
});

t.test('a token that is refused ends it, with the words of the service', async (t) => {
  const service = await testService(t);
  service.refuse({ status: 401, body: { error: 'Invalid or expired API token', code: 'x' } });
  const { ended, said } = await unconnectedAgent(t, service);
  t.equal(await ended, 77);
  t.match(said.at(-1), 'Invalid or expired API token');
});

t.test('a service that is away is waited for', async (t) => {
  const service = await testService(t);
  service.refuse({ status: 503, body: { error: 'not ready', code: 'x' } });
  const { said } = await unconnectedAgent(t, service);
  await waitFor(() => service.requests.length >= 2);
  t.match(said[0], /^not connected: not ready \(503\); trying again in 0\.\d s$/);
  service.refuse(null);
  await waitFor(service.isConnected);
});

t.test('a refusal whose connection breaks is followed by another try', async (t) => {
  const service = await testService(t);
  service.refuse({ status: 503, body: {}, isCut: true });
  await unconnectedAgent(t, service);
  await waitFor(() => service.requests.length >= 2);
  service.refuse(null);
  await waitFor(service.isConnected);
});

t.test('a service that lets it in and drops it at once is asked less and less', async (t) => {
  const { service, said } = await connectedAgent(t);
  const delays = () =>
    said.flatMap((line) => /trying again in (\d+\.\d) s/.exec(line)?.[1] ?? []).map(Number);
  for (const tries of [1, 2, 3]) {
    await waitFor(() => service.greetings.length === tries && service.isConnected());
    service.drop();
    await waitFor(() => delays().length === tries);
  }
  t.ok((delays()[2] ?? 0) >= 1, `${delays()}`);
});

t.test('it comes back after a restart, and ends for good when it is replaced or forgotten', async (t) => {
  const again = await connectedAgent(t);
  again.service.close('restarting');
  await waitFor(() => again.service.greetings.length === 2);
  t.match(again.service.greetings[1], { session: String }, 'with its session');
  for (const [reason, code] of [
    ['replaced', 75],
    ['forgotten', 76],
  ] as const) {
    const { service, ended } = await connectedAgent(t);
    service.close(reason);
    t.equal(await ended, code, reason);
  }
});

t.test('a service that turns it away instead of a welcome is heard', async (t) => {
  const service = await testService(t);
  service.turnAway('forgotten');
  const { ended, said } = await unconnectedAgent(t, service);
  t.equal(await ended, 76);
  t.match(said, [/was deleted in Berth/]);
});

t.test('a clock that jumps by an hour ends no connection', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] });
  t.teardown(() => mock.timers.reset());
  const { service } = await connectedAgent(t);
  let nowMs = performance.now();
  const monotonic = mock.method(performance, 'now', () => nowMs);
  t.teardown(() => monotonic.mock.restore());
  mock.timers.setTime(Date.now() + 3_600_000);
  mock.timers.tick(1_000);
  await service.open({ type: 'shells' }).over();
  for (let seconds = 0; seconds < 10; seconds += 1) {
    nowMs += 1_000;
    mock.timers.tick(1_000);
  }
  await service.open({ type: 'shells' }).over();
  t.equal(service.greetings.length, 1);
});

t.test('a line that does not answer after a sleep is given up within seconds', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] });
  t.teardown(() => mock.timers.reset());
  const { service, said } = await connectedAgent(t);
  await service.open({ type: 'shells' }).over();
  let nowMs = performance.now();
  const monotonic = mock.method(performance, 'now', () => nowMs);
  t.teardown(() => monotonic.mock.restore());
  service.fallSilent();
  mock.timers.setTime(Date.now() + 3_600_000);
  for (let seconds = 0; seconds < 10; seconds += 1) {
    mock.timers.tick(1_000);
    nowMs += 1_000;
  }
  await waitFor(() => said.some((line) => line.includes('since the clock jumped forward')));
});

t.test('shells end with the agent, which says so', async (t) => {
  const { service, end, ended } = await connectedAgent(t);
  const shell = service.open(aShell('main'));
  await waitFor(() => shell.reply());
  end();
  t.equal(await ended, 0);
  await waitFor(() => service.closings.includes('ended'));
});

t.test('a session that was away for too long is given up, with its shells', async (t) => {
  const { service, said } = await connectedAgent(t, { keptMs: 50 });
  const shell = service.open(aShell('main'));
  await waitFor(() => shell.reply());
  service.refuse({ status: 503, body: {} });
  service.drop();
  await waitFor(() => said.some((line) => line.includes('all shells are ended')));
  service.refuse(null);
  await waitFor(() => shell.fault(), { what: 'the service hears of a new session' });
  t.match(service.greetings.at(-1), { session: null });
  t.match(await service.open({ type: 'shells' }).over(), { shells: [] });
});
