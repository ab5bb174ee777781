/** A request with an API token: from bare Fastify to the service. */
import { administrator, load } from '../load.ts';
import { startServer } from '../servers.ts';
import { emptyDatabase } from '../whole-service.ts';
import { TOKEN_RUNGS } from './rungs.ts';
import { costsOf, ladderTable, type Step } from './steps.ts';

const SECONDS = 1;
const CONNECTIONS = 32;
const BASE = 'Fastify';
const SERVICE = 'Berth';

export async function tokenLadder(rounds: number): Promise<string> {
  const database = await emptyDatabase();
  const steps: Step[] = [];
  try {
    steps.push({ name: BASE, server: await startServer('bare-server.ts', []) });
    for (const [at, rung] of TOKEN_RUNGS.entries())
      steps.push({ name: `+ ${rung}`, server: await startServer('ladder/token-server.ts', [`${at + 1}`]) });
    const service = await startServer('service-server.ts', [database.url]);
    steps.push({ name: SERVICE, server: service });
    const admin = await administrator(service.address, service.setupCode);
    const { token } = await admin.call<{ token: string }>('POST', '/api/tokens', { name: 'bench' });
    const headers = { authorization: `Bearer ${token}` };
    const costs = await costsOf(steps, rounds, async ({ server: { address } }) => {
      const options = { url: `${address}/api/tokens/validate`, headers, connections: CONNECTIONS };
      const { requestsPerSecond } = await load({ ...options, seconds: SECONDS });
      return requestsPerSecond * SECONDS;
    });
    return ladderTable(costs, BASE);
  } finally {
    for (const { server } of steps) await server.stop();
    await database.stop();
  }
}
