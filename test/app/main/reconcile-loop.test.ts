import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import t from 'tap';
import { reconcileLoop } from '../../../src/app/main/process/reconcile-loop.ts';
import type { Service } from '../../../src/app/main/service.ts';
import { standingTime } from '../../support/time.ts';

for (const [tookMs, restMs] of [
  [10, 500],
  [2_000, 6_000],
] as const)
  t.test(`after a pass of ${tookMs} ms hints wait ${restMs} ms`, async (t) => {
    const time = standingTime(t);
    let passes = 0;
    let workedMs = 0;
    let renewals = 0;
    const service = {
      reconcile: async () => {
        passes += 1;
        workedMs += tookMs;
      },
      warmPool: {
        soon: () => {},
        renew: async () => {
          renewals += 1;
        },
      },
      operations: { renew: async () => {}, takeOver: async () => {} },
    } as unknown as Service;
    const loop = reconcileLoop(pino({ level: 'silent' }), () => workedMs);
    const stop = loop.start(service);
    const passesAfter = async (ms: number): Promise<number> => {
      time.pass(ms);
      await turn();
      return passes;
    };
    t.equal(await passesAfter(0), 1, 'the first is at once');
    for (let hints = 0; hints < 3; hints += 1) loop.soon();
    t.equal(await passesAfter(restMs - 100), 1);
    t.equal(await passesAfter(100), 2, 'one for all hints');
    t.equal(await passesAfter(30_000 - restMs), 3, 'without a hint every half minute');
    t.equal(renewals, 6, 'leases are renewed every five seconds');
    await stop();
  });
