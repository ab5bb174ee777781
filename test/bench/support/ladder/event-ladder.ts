/** One event to many subscribers: from the system call to the service. */

import { type Crowd, crowd, leave, protocols, toTheLast } from '../events/crowd.ts';
import { administrator } from '../load.ts';
import { startServer } from '../servers.ts';
import { emptyDatabase } from '../whole-service.ts';
import { EVENT_RUNGS } from './rungs.ts';
import { costsOf, ladderTable, type Step } from './steps.ts';

const SERVICE = 'Berth';
/** Events in a turn: one alone is near the precision of the clock of processor time. */
const EVENTS = 5;

export async function eventLadder(rounds: number, subscribers: number): Promise<string> {
  const database = await emptyDatabase();
  const steps: Step[] = [];
  const crowds = new Map<string, Crowd>();
  try {
    for (const rung of EVENT_RUNGS)
      steps.push({ name: rung, server: await startServer('ladder/event-server.ts', [rung]) });
    for (const { name, server } of steps) crowds.set(name, await crowd(server, subscribers, []));
    const service = await startServer('service-server.ts', [database.url]);
    steps.push({ name: SERVICE, server: service });
    const admin = await administrator(service.address, service.setupCode);
    const { id: owner } = await admin.call<{ id: string }>('GET', '/api/me');
    const { token } = await admin.call<{ token: string }>('POST', '/api/tokens', { name: 'bench' });
    crowds.set(SERVICE, await crowd(service, subscribers, protocols(token)));
    const costs = await costsOf(steps, rounds, async ({ name, server }) => {
      const all = crowds.get(name) as Crowd;
      for (let n = 0; n < EVENTS; n += 1) await toTheLast(server, all, owner);
      return EVENTS * subscribers;
    });
    return ladderTable(costs, 'ws.send');
  } finally {
    for (const each of crowds.values()) leave(each);
    for (const { server } of steps) await server.stop();
    await database.stop();
  }
}
