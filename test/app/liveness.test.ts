import t from 'tap';
import { livenessOf, watchLoop } from '../../src/app/main/liveness.ts';
import { aService, as } from '../support/service.ts';

t.test('alive while the loop turns and the reconcile beats', async (t) => {
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

t.test('a loop that does not turn is late already', async (t) => {
  let now = 0;
  const loop = watchLoop(() => now);
  t.teardown(loop.stop);
  t.equal(loop.lagMs(), 0);
  now = 400;
  t.equal(loop.lagMs(), 0, 'it is not due yet');
  now = 3_500;
  t.equal(loop.lagMs(), 3_000);
});

t.test('whoever is stuck says so, with 503', async (t) => {
  const service = await aService({}, { liveness: () => ({ status: 'stuck', detail: 'why' }) });
  const answer = await as(service, null)('GET', '/livez');
  t.same([answer.statusCode, answer.json()], [503, { status: 'stuck', detail: 'why' }]);
});
