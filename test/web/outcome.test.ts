import t from 'tap';
import { ApiError, errorOf, unanswered, unreachable } from '../../web/src/api/errors.ts';
import { explain } from '../../web/src/api/explain.ts';
import type { Container } from '../../web/src/api/types.ts';
import { type Change, faultOf, isUnknown, type Outcome, outcomeOf } from '../../web/src/lib/outcome.ts';
import { endWords } from '../../web/src/session/ends.ts';

const resources = { memory_mb: 512, cpu_shares: 500, disk_mb: 1024 };
const container = (status: string, reason: string | null = null) =>
  ({ status, status_reason: reason, name: 'a', resources }) as Container;
const wanted = { name: 'a', resources };

const DONE: Outcome = { kind: 'done' };
const UNDER_WAY: Outcome = { kind: 'under_way' };
const failed = (reason: string | null = null): Outcome => ({ kind: 'failed', reason });

t.test('what has come of a change is read from the container, and never guessed', async (t) => {
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

t.test('a failure says that something was not done only when that is known', async (t) => {
  const cases: [ApiError, boolean][] = [
    [unreachable(), true],
    [unanswered(), true],
    [errorOf(502, null, null), true],
    [errorOf(503, null, null), true],
    [errorOf(504, null, null), true],
    [new ApiError(503, 'unavailable', ''), true],
    [new ApiError(503, 'host_disk_short', ''), false],
    [new ApiError(503, 'service_restarting', ''), false],
    [new ApiError(500, 'internal_error', 'failed to stop container'), false],
    [new ApiError(409, 'container_busy', ''), false],
  ];
  for (const [failure, unknown] of cases)
    t.equal(isUnknown(failure), unknown, `${failure.status} ${failure.code}`);
  t.notMatch(explain(unanswered()).title, /fail|cannot|could not/i);
});

t.test('a fault of a container is a sentence, with what can be tried again', async (t) => {
  t.same(faultOf(container('stopped', 'the engine could not remove it')), {
    words: 'Could not be deleted: the engine could not remove it.',
    change: 'deleting',
  });
  t.same(faultOf(container('stopped', 'disk full')), { words: 'Disk full.', change: null });
  t.equal(faultOf(container('running')), null);
});

t.test('who did not sign out is told why that happened, in words of their own', async (t) => {
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
