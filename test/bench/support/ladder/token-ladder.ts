/** A request with an API token: from bare Fastify to the service. */
import { load } from '../load.ts';
import { startServer } from '../servers.ts';
import { benchToken, onService } from '../whole-service.ts';
import { TOKEN_RUNGS } from './rungs.ts';
import { costsOf, ladderTable, type Step } from './steps.ts';

const SECONDS = 1;
const CONNECTIONS = 32;
const BASE = 'Fastify';
const SERVICE = 'Berth';

export const tokenLadder = (rounds: number): Promise<string> =>
  onService(async ({ service, admin }) => {
    const below: Step[] = [];
    try {
      below.push({ name: BASE, server: await startServer('bare-server.ts', []) });
      for (const [at, rung] of TOKEN_RUNGS.entries())
        below.push({ name: `+ ${rung}`, server: await startServer('ladder/token-server.ts', [`${at + 1}`]) });
      const { headers } = await benchToken(admin);
      const steps = [...below, { name: SERVICE, server: service }];
      const costs = await costsOf(steps, rounds, async ({ server: { address } }) => {
        const options = { url: `${address}/api/tokens/validate`, headers, connections: CONNECTIONS };
        const { requestsPerSecond } = await load({ ...options, seconds: SECONDS });
        return requestsPerSecond * SECONDS;
      });
      return ladderTable(costs, BASE);
    } finally {
      for (const { server } of below) await server.stop();
    }
  });
