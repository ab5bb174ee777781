import type { Socket } from 'node:net';
import t from 'tap';
import { heldMib } from '../support/memory.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as } from '../support/service/service.ts';
import { listenOnUnix, unreadConnection } from '../support/service/unix-listener.ts';

const CONNECTIONS = 160;
const PIPELINED = 8;
/** An answer is 110 kB: eight on each connection would be 140 MB. */
const MOST_MIB = 80;

const ask = 'GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

t.test(
  'a connection that pipelines and reads nothing holds one answer, and other users are answered',
  async (t) => {
    const service = await aService();
    const socketPath = await listenOnUnix(t, service);
    const ada = await aPerson(service, 'ada');
    const accepted: Socket[] = [];
    service.http.server.on('connection', (socket: Socket) => accepted.push(socket));
    const before = heldMib();
    for (let n = 0; n < CONNECTIONS; n += 1) await unreadConnection(t, socketPath, ask.repeat(PIPELINED));
    const waiting = (): number => accepted.filter((socket) => socket.writableLength > 0).length;
    await waitFor(() => waiting() === CONNECTIONS, { what: 'every connection has an answer' });
    t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200, 'a neighbour is answered meanwhile');
    const grown = heldMib() - before;
    t.ok(grown < MOST_MIB, `${Math.round(grown)} MiB more than before`);
    t.notOk(accepted.some(({ destroyed }) => destroyed));
    const greedy = await unreadConnection(t, socketPath, ask.repeat(PIPELINED * 4));
    greedy.resume();
    await waitFor(() => greedy.destroyed, { what: 'one that pipelines more is closed' });
  },
);
