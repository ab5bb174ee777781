/** One event to many subscribers: from the system call to the service. */

import { type Crowd, crowd, leave, protocols, toTheLast } from '../events/crowd.ts';
import { startServer } from '../servers.ts';
import { benchToken, onService } from '../whole-service.ts';
import { EVENT_RUNGS } from './rungs.ts';
import { costsOf, ladderTable, type Step } from './steps.ts';

const SERVICE = 'Berth';
/** Events in a turn: one alone is near the precision of the clock of processor time. */
const EVENTS = 5;

export const eventLadder = (rounds: number, subscribers: number): Promise<string> =>
  onService(async ({ service, admin }) => {
    const below: Step[] = [];
    const crowds = new Map<string, Crowd>();
    try {
      for (const rung of EVENT_RUNGS)
        below.push({ name: rung, server: await startServer('ladder/event-server.ts', [rung]) });
      for (const { name, server } of below) crowds.set(name, await crowd(server, subscribers, []));
      const { id: owner } = await admin.call<{ id: string }>('GET', '/api/me');
      const { token } = await benchToken(admin);
      crowds.set(SERVICE, await crowd(service, subscribers, protocols(token)));
      const steps = [...below, { name: SERVICE, server: service }];
      const costs = await costsOf(steps, rounds, async ({ name, server }) => {
        const all = crowds.get(name) as Crowd;
        for (let n = 0; n < EVENTS; n += 1) await toTheLast(server, all, owner);
        return EVENTS * subscribers;
      });
      return ladderTable(costs, 'ws.send');
    } finally {
      for (const each of crowds.values()) leave(each);
      for (const { server } of below) await server.stop();
    }
  });
