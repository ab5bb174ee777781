import t from 'tap';
import { ApiError, errorOf, fieldFaults, unreachable } from '../../web/src/api/errors.ts';
import { explain } from '../../web/src/api/explain.ts';
import { commandIn, healthOf } from '../../web/src/api/health.ts';

t.test('an error answer keeps its code, words, fields and the time to wait', async (t) => {
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

t.test('an answer of something in between becomes an error of its status', async (t) => {
  for (const body of [null, '<html>', 7, [], {}, { error: 1, code: 2, fields: 'x' }]) {
    t.match(errorOf(502, body, 'soon'), { status: 502, code: 'http_502', retryAfterSeconds: null });
  }
});

t.test('faults reach their fields as sentences, a taken name among them', async (t) => {
  const invalid = errorOf(400, { code: 'validation_failed', fields: { name: 'must be short' } }, null);
  t.same(fieldFaults(invalid), { name: 'Must be short.' });
  t.hasOwnProp(fieldFaults(errorOf(409, { code: 'name_taken' }, null)), 'name');
  t.same(fieldFaults(errorOf(500, { code: 'internal_error' }, null)), {});
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
});

t.test('a create that deleted containers leave no room for leads to them', async (t) => {
  const failure = errorOf(409, { error: 'deleted containers …', code: 'kept_limit_reached' }, null);
  t.match(explain(failure), { next: /^Delete one of them for good/, link: { href: '/deleted' } });
});

t.test('a failure without a reason is put down to the engine while that is known to be down', async (t) => {
  const failure = errorOf(500, { error: 'failed to create container' }, null);
  t.match(explain(failure, true).next, /engine/);
  t.notMatch(explain(new ApiError(409, 'container_busy', 'container is busy'), true).next, /engine/);
});

t.test('health names only the parts that are not ready, and how to mend them', async (t) => {
  const parts = {
    database: { status: 'ready' as const, detail: 'answers' },
    engine: { status: 'down' as const, detail: 'no engine', mend: 'apt-get install docker.io' },
    image: { status: 'down' as const, detail: 'waits' },
    disk: { status: 'ready' as const, detail: 'hard' },
    isolation: { status: 'ready' as const, detail: 'proved' },
  };
  t.same(healthOf({ status: 'degraded', parts }), {
    status: 'degraded',
    faults: [
      {
        part: 'engine',
        status: 'down',
        detail: 'no engine',
        mend: null,
        command: 'apt-get install docker.io',
      },
      { part: 'image', status: 'down', detail: 'waits', mend: null, command: null },
    ],
  });
  const plain = { status: 'degraded' as const };
  t.match(
    healthOf({ status: 'degraded', parts: { ...parts, engine: plain } }).faults[0],
    { part: 'engine', detail: null, mend: null, command: null },
    'reasons are for administrators',
  );
  t.same(healthOf(null), { status: 'unready', faults: [] });
});

t.test('the command in a mending step is found, and none is made up', async (t) => {
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
