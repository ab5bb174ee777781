import type { Socket } from 'node:net';
import t from 'tap';
import { heldMib } from '../support/memory.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as } from '../support/service/service.ts';
import { listenOnUnix, unreadConnection } from '../support/service/unix-listener.ts';
import { standingTime } from '../support/time.ts';

const USERS = 8;
const COMMANDS = 8;
/** 64 answers of 6 MiB would be 384; all that may be kept is 32 of 2 MiB beside what the commands themselves hold. */
const MOST_MIB = 250;

t.test(
  'answers of commands that nobody reads do not fill the memory, nor hold up another user',
  async (t) => {
    const service = await aService();
    const socketPath = await listenOnUnix(t, service);
    const bob = await aPerson(service, 'bob');
    const create = { name: 'dev', disk_mb: 512 };
    const box = (await as(service, bob)('POST', '/api/containers', create)).json();
    const requests: string[] = [];
    for (let user = 0; user < USERS; user += 1) {
      const eve = await aPerson(service, `eve${user}`);
      const { db_id: id } = (await as(service, eve)('POST', '/api/containers', create)).json();
      const body = JSON.stringify({ command: ['head', '-c', '1048576', '/dev/zero'] });
      const lines = [
        `POST /api/containers/${id}/exec HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${eve.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      requests.push(`${lines.join('\r\n')}\r\n\r\n${body}`);
    }
    const accepted: Socket[] = [];
    service.http.server.on('connection', (socket: Socket) => accepted.push(socket));
    const before = heldMib();
    for (let n = 0; n < USERS * COMMANDS; n += 1)
      await unreadConnection(t, socketPath, requests[n % USERS] ?? '');
    const answering = (): number => accepted.filter((socket) => socket.writableLength > 0).length;
    await waitFor(() => answering() >= USERS * 4, { what: 'every user has its share of answers' });
    const neighbour = as(service, bob);
    const { stdout } = (
      await neighbour('POST', `/api/containers/${box.db_id}/exec`, { command: ['echo', 'here'] })
    ).json();
    t.equal(stdout, 'here\n', 'a neighbour is answered meanwhile');
    t.equal(answering(), USERS * 4, 'four answers of each user are kept, and no more');
    const grown = heldMib() - before;
    t.ok(grown < MOST_MIB, `${Math.round(grown)} MiB more than before`);
  },
);

const CONNECTIONS = 160;
const PIPELINED = 8;
/** An answer is 110 kB: eight on each connection would be 140 MB. */
const MOST_OF_PIPELINES_MIB = 80;

const ask = 'GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

t.test(
  'a connection that pipelines and reads nothing holds one answer, and other users are answered',
  async (t) => {
    const time = standingTime(t);
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
    t.ok(grown < MOST_OF_PIPELINES_MIB, `${Math.round(grown)} MiB more than before`);
    t.notOk(accepted.some(({ destroyed }) => destroyed));
    const greedy = await unreadConnection(t, socketPath, ask.repeat(PIPELINED * 4));
    greedy.resume();
    await waitFor(() => greedy.destroyed, { what: 'one that pipelines more is closed' });
    time.pass(50_000);
    t.notOk(accepted.slice(0, CONNECTIONS).some(({ destroyed }) => destroyed));
    time.pass(15_000);
    t.ok(
      accepted.every(({ destroyed }) => destroyed),
      'who has read nothing for a minute is closed',
    );
  },
);
