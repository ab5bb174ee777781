import t from 'tap';
import { BerthError } from '../../src/client/request/errors.ts';
import { probeOf } from '../../src/client/terminal/probe.ts';

const refused = (status: number, code: string, retryAfterSeconds: number | null = null): BerthError =>
  new BerthError(status, code, code, { retryAfterSeconds });

const asked = (refusal: BerthError | null, status = 'running') =>
  probeOf({ container: async () => ({ status }), refusal: async () => refusal });

t.test('a refused terminal says why, and when to try again', async (t) => {
  const cases = [
    [null, 'ok'],
    [refused(503, 'busy_opening_terminals', 2), { trouble: 'busy', forMs: 2_000 }],
    [refused(429, 'too_many_at_once', 10), { trouble: 'too_many', forMs: 10_000 }],
    [refused(429, 'address_full', 30), { trouble: 'address', forMs: 30_000 }],
    [refused(429, 'rate_limited', 40), { trouble: 'rate', forMs: 40_000 }],
    [refused(409, 'sharing_needs_tmux'), { trouble: 'no_tmux', forMs: null }],
    [refused(503, 'unavailable'), 'ok'],
  ] as const;
  for (const [refusal, probe] of cases) t.same(await asked(refusal), probe, refusal?.code ?? 'no refusal');
  for (const status of ['stopped', 'failed']) t.equal(await asked(null, status), 'stopped');
});

t.test('a container that cannot be read says why', async (t) => {
  const cases = [
    [401, 'unauthorized'],
    [403, 'refused'],
    [404, 'deleted'],
    [423, 'refused'],
    [500, 'unreachable'],
  ] as const;
  for (const [status, probe] of cases) {
    const container = () => Promise.reject(refused(status, 'any'));
    t.equal(await probeOf({ container, refusal: async () => null }), probe, `${status}`);
  }
  const limited = () => Promise.reject(refused(429, 'rate_limited', 7));
  t.same(await probeOf({ container: limited, refusal: async () => null }), { trouble: 'rate', forMs: 7_000 });
});
