import { createServer } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ANSWERS } from '../../src/adapters/http/error-table.ts';
import { errorOf as errorFrom } from '../../src/client/request/errors.ts';
import { BerthError, fieldFaults, unanswered, unreachable } from '../../web/src/api/errors.ts';
import { explain } from '../../web/src/api/explain.ts';
import { commandIn, type Fault, healthOf } from '../../web/src/api/health.ts';
import { request } from '../../web/src/api/request.ts';
import type { Container } from '../../web/src/api/types.ts';
import { causesIn, headlineOf } from '../../web/src/lib/fault-words.ts';
import { type Change, faultOf, isUnknown, type Outcome, outcomeOf } from '../../web/src/lib/outcome.ts';
import { singleFlight } from '../../web/src/lib/single-flight.ts';
import { endWords } from '../../web/src/session/ends.ts';
import { usableForMs } from '../../web/src/session/login-token-life.ts';
import { addressOf } from '../support/listen.ts';

const errorOf = (status: number, body: unknown, retryAfter: string | null): BerthError =>
  errorFrom(status, body, new Headers(retryAfter === null ? {} : { 'retry-after': retryAfter }));

t.test('an error answer keeps its code, words, fields and retry time', async (t) => {
  const body = {
    error: 'name is required',
    code: 'validation_failed',
    fields: { name: 'is required', x: 7 },
  };
  const error = errorOf(400, body, '12');
  t.match(error, {
    status: 400,
    code: 'validation_failed',
    message: 'name is required',
    retryAfterSeconds: 12,
  });
  t.same(error.fields, { name: 'is required' });
});

t.test("a proxy's answer becomes an error of its status", async (t) => {
  for (const body of [null, '<html>', 7, [], {}, { error: 1, code: 2, fields: 'x' }]) {
    t.match(errorOf(502, body, 'soon'), { status: 502, code: 'http_502', retryAfterSeconds: null });
  }
});

t.test('faults reach their fields as sentences, including a taken name', async (t) => {
  const invalid = errorOf(400, { code: 'validation_failed', fields: { name: 'must be short' } }, null);
  t.same(fieldFaults(invalid), { name: 'Must be short.' });
  t.hasOwnProp(fieldFaults(errorOf(409, { code: 'name_taken' }, null)), 'name');
  t.same(fieldFaults(errorOf(500, { code: 'internal_error' }, null)), {});
});

t.test('advice suits the refusal', async (t) => {
  const notOfPages = /^(command|process)_|^(method_not_allowed|slow_down)$/;
  for (const [code, [status, error]] of Object.entries(ANSWERS)) {
    const { title, next } = explain(errorOf(status, { code, error }, null));
    const given = `${code}: ${title}. ${next}`;
    t.match(given, /: [A-Z].*[^.]\. [A-Z].*\.$/);
    if (status !== 400 && !notOfPages.test(code)) t.notMatch(given, 'Check what you entered');
    if (code !== 'service_restarting' && !notOfPages.test(code))
      t.notMatch(given, 'Berth is busy or starting');
  }
  t.match(explain(errorOf(507, { code: 'disk_full', error: 'no space left' }, null)).next, /Delete files/);
  t.match(explain(errorOf(404, { code: 'user_not_found', error: 'user not found' }, null)), {
    title: 'User not found',
    next: 'It may have been deleted. Reload the page.',
  });
  t.match(explain(errorOf(409, { code: 'x', error: 'this is so: do that' }, null)), {
    title: 'This is so',
    next: 'Do that.',
  });
  const nextOf = (code: keyof typeof ANSWERS): string =>
    explain(errorOf(ANSWERS[code][0], { code, error: ANSWERS[code][1] }, null)).next;
  t.match(nextOf('token_cannot_derive'), /Use another token/);
  t.match(nextOf('mfa_not_started'), /Start it again/);
  t.match(nextOf('passcode_not_set'), /Set one/);
});

t.test('every failure says what happened and what to do next', async (t) => {
  const failures = [
    unreachable(),
    errorOf(401, { error: 'unauthorized', code: 'unauthorized' }, null),
    errorOf(403, { error: 'not authorized', code: 'not_authorized' }, null),
    errorOf(409, { error: 'container limit reached', code: 'container_limit_reached' }, null),
    errorOf(500, { error: 'failed to start container', code: 'internal_error' }, null),
    errorOf(503, { error: 'service unavailable', code: 'unavailable' }, '3'),
    new Error('boom'),
  ];
  for (const failure of failures) {
    const { title, next } = explain(failure);
    t.match(title, /^[A-Z].*[^.]$/);
    t.match(next, /^[A-Z].*\.$/);
  }
  t.equal(
    explain(errorOf(500, { error: 'failed to start container' }, null)).title,
    'Failed to start container',
  );
  t.match(explain(errorOf(429, { code: 'rate_limited' }, '40')).next, /40 s/);
  const lacks = errorOf(
    503,
    { error: 'the service lacks a right: get pods', code: 'engine_right_missing' },
    null,
  );
  t.match(explain(lacks), { title: /lacks a right: get pods/, next: 'Ask an administrator to grant it.' });
});

t.test('a create blocked by deleted containers leads to them', async (t) => {
  const failure = errorOf(409, { error: 'deleted containers …', code: 'kept_limit_reached' }, null);
  t.match(explain(failure), { next: /^Delete one of them permanently/, link: { href: '/deleted' } });
});

t.test('a failure without a reason is attributed to an engine known to be down', async (t) => {
  const failure = errorOf(500, { error: 'failed to create container' }, null);
  t.match(explain(failure, true).next, /engine/);
  t.notMatch(explain(new BerthError(409, 'container_busy', 'container is busy'), true).next, /engine/);
});

t.test('health names only the components with a fault, and how to fix them', async (t) => {
  const parts = {
    database: { status: 'ready' as const, detail: 'answers' },
    engine: {
      status: 'down' as const,
      detail: 'no engine',
      reason: 'missing' as const,
      mend: 'apt-get install docker.io',
    },
    image: { status: 'down' as const, detail: 'waits' },
    disk: { status: 'ready' as const, detail: 'hard' },
    isolation: { status: 'testing' as const, detail: 'being tested' },
    resources: { status: 'ready' as const, detail: 'lxcfs' },
  };
  t.same(healthOf({ status: 'degraded', parts }), {
    status: 'degraded',
    faults: [
      {
        component: 'engine',
        status: 'down',
        detail: 'no engine',
        reason: 'missing',
        advice: null,
        command: 'apt-get install docker.io',
      },
      { component: 'image', status: 'down', detail: 'waits', reason: null, advice: null, command: null },
    ],
  });
  const plain = { status: 'degraded' as const };
  t.match(
    healthOf({ status: 'degraded', parts: { ...parts, engine: plain } }).faults[0],
    { component: 'engine', detail: null, reason: null, advice: null, command: null },
    'reasons are for administrators',
  );
  t.same(healthOf(null), { status: 'unready', faults: [] });
});

t.test('a headline claims no more than is known of the isolation', async (t) => {
  const aFault = (component: string, reason: Fault['reason'] = null): Fault => ({
    component,
    status: 'degraded',
    detail: null,
    reason,
    advice: null,
    command: null,
  });
  const cases: [Fault['reason'], RegExp][] = [
    ['open', /^Containers are not isolated/],
    ['filter_refused', /^Containers are not isolated/],
    ['untested', /could not be tested$/],
    ['filter_changed', /changed from outside$/],
  ];
  for (const [reason, words] of cases) t.match(headlineOf(aFault('isolation', reason), true), words);
  t.match(headlineOf(aFault('isolation'), false), /^A security check/);
  t.match(headlineOf(aFault('engine', 'missing'), true), /not running/);
  const [engine, open] = [aFault('engine', 'missing'), aFault('isolation', 'open')];
  const following = [aFault('image'), aFault('disk'), aFault('isolation', 'waiting'), aFault('isolation')];
  t.same(causesIn([engine, ...following, open]), [engine, open], 'the rest follows from the engine');
  t.same(causesIn(following), following);
});

t.test('the command in a fix is found, and none is made up', async (t) => {
  const cases: [string, string | null][] = [
    ['sudo usermod -aG docker $USER, then sign in again', 'sudo usermod -aG docker $USER'],
    ['start Docker (sudo systemctl start docker) or set DOCKER_HOST', 'sudo systemctl start docker'],
    [
      'apt-get update && apt-get install docker.io (no dockerd)',
      'apt-get update && apt-get install docker.io',
    ],
    ['see the log', null],
    ['', null],
  ];
  for (const [words, command] of cases) t.equal(commandIn(words), command, words);
});

/** A server that cuts the connections of its first requests, and the requests it saw. */
async function cutting(t: Test, cuts: number) {
  const seen: string[] = [];
  const server = createServer((incoming, reply) => {
    seen.push(`${incoming.method}`);
    if (seen.length <= cuts) incoming.socket.destroy();
    else reply.end('{"fine":true}');
  });
  return { seen, address: `${await addressOf(t, server)}/` };
}

t.test('a read is repeated once when the network fails', async (t) => {
  const one = await cutting(t, 1);
  t.same(await request(one.address), { fine: true });
  const two = await cutting(t, 2);
  await t.rejects(request(two.address), unreachable());
  t.same([one.seen, two.seen], [Array(2).fill('GET'), Array(2).fill('GET')]);
});

t.test('a change is sent once', async (t) => {
  const { seen, address } = await cutting(t, 1);
  await t.rejects(request(address, { method: 'POST', body: {} }), unreachable());
  t.same(seen, ['POST']);
});

const resources = { memory_mb: 512, cpu_shares: 500, disk_mb: 1024 };
const container = (status: string, reason: string | null = null) =>
  ({ status, status_reason: reason, name: 'a', resources }) as Container;
const wanted = { name: 'a', resources };

const DONE: Outcome = { kind: 'done' };
const UNDER_WAY: Outcome = { kind: 'under_way' };
const failed = (reason: string | null = null): Outcome => ({ kind: 'failed', reason });

t.test("a change's outcome is read from the container, never guessed", async (t) => {
  const cases: [Change, Container | null, Outcome][] = [
    ['starting', container('running'), DONE],
    ['starting', container('starting'), UNDER_WAY],
    ['starting', container('stopped', 'why'), failed('why')],
    ['starting', null, failed()],
    ['stopping', container('stopped'), DONE],
    ['stopping', container('stopping'), UNDER_WAY],
    ['stopping', container('running', 'why'), failed('why')],
    ['deleting', null, DONE],
    ['deleting', container('deleted'), DONE],
    ['deleting', container('stopping'), UNDER_WAY],
    ['deleting', container('stopped', 'why'), failed('why')],
    ['updating', container('running'), DONE],
    ['updating', container('updating'), UNDER_WAY],
    [
      'updating',
      { ...container('running', 'why'), resources: { ...resources, memory_mb: 1 } },
      failed('why'),
    ],
    ['updating', { ...container('running'), name: 'b' }, failed()],
    ['restoring', container('stopped'), DONE],
    ['restoring', container('creating'), UNDER_WAY],
    ['restoring', null, failed()],
  ];
  for (const [change, now, outcome] of cases)
    t.same(outcomeOf(change, now, change === 'updating' ? wanted : {}), outcome, `${change} ${now?.status}`);
});

t.test('a failure says that nothing was done only when that is known', async (t) => {
  const cases: [BerthError, boolean][] = [
    [unreachable(), true],
    [unanswered(), true],
    [errorOf(502, null, null), true],
    [errorOf(503, null, null), true],
    [errorOf(504, null, null), true],
    [new BerthError(503, 'unavailable', ''), true],
    [new BerthError(503, 'host_disk_short', ''), false],
    [new BerthError(503, 'service_restarting', ''), false],
    [new BerthError(500, 'internal_error', 'failed to stop container'), false],
    [new BerthError(409, 'container_busy', ''), false],
  ];
  for (const [failure, unknown] of cases)
    t.equal(isUnknown(failure), unknown, `${failure.status} ${failure.code}`);
  t.notMatch(explain(unanswered()).title, /fail|cannot|could not/i);
});

t.test("a container's fault is a sentence, with what can be retried", async (t) => {
  t.same(faultOf(container('stopped', 'the engine could not remove it')), {
    words: 'Could not be deleted by the engine.',
    change: 'deleting',
  });
  t.same(faultOf(container('stopped', 'disk full')), { words: 'Disk full.', change: null });
  t.equal(faultOf(container('running')), null);
});

t.test('a user who did not sign out is told why the session ended', async (t) => {
  const reasons = [
    'revoked',
    'password_changed',
    'user_disabled',
    'refresh_token_reused',
    'too_many_wrong_passcodes',
  ];
  const words = [...reasons, 'expired'].map((reason) => endWords(reason)?.next ?? '');
  t.equal(new Set(words).size, 6);
  for (const each of words) t.match(each, /Your programs keep running\./);
  for (const known of [null, 'logged_out', 'something new']) t.equal(endWords(known), null);
});

t.test('a login token is renewed before it expires, even with a wrong clock', async (t) => {
  const expires = '2026-01-01T00:15:00Z';
  const at = (time: string) => usableForMs(expires, Date.parse(time));
  t.equal(at('2026-01-01T00:05:00Z'), 9 * 60_000);
  t.equal(at('2025-12-31T00:00:00Z'), 14 * 60_000, 'a clock that is slow');
  t.equal(at('2026-01-01T05:00:00Z'), 30_000, 'a clock that is fast');
  t.equal(usableForMs('nonsense', 0), 30_000);
});

t.test('calls join one in progress; the next starts again, even after a failure', async (t) => {
  let calls = 0;
  const fly = singleFlight(async () => {
    calls += 1;
    await immediate();
    if (calls === 2) throw new Error('no');
    return calls;
  });
  t.same(await Promise.all([fly(), fly(), fly()]), [1, 1, 1]);
  await t.rejects(Promise.all([fly(), fly()]));
  t.equal(await fly(), 3);
});
