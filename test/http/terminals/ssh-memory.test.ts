import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { queryObjects } from 'node:v8';
import type { ClientChannel } from 'ssh2';
import t from 'tap';
import { Carrier } from '../../../src/adapters/ssh/carrier.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { sshByKey } from '../../support/ssh/ssh-client.ts';
import { fakeTerminals } from '../../support/terminal/terminals.ts';

const ROUNDS = 500;

/** How many more promises live after these rounds than before, once all garbage is collected. */
async function promisesLeft(round: () => Promise<void>): Promise<number> {
  await round();
  const before = queryObjects(Promise, { format: 'count' });
  for (let count = 0; count < ROUNDS; count += 1) await round();
  return queryObjects(Promise, { format: 'count' }) - before;
}

t.test('the output of a shell over SSH leaves nothing in memory', async (t) => {
  const terminals = fakeTerminals();
  const service = await aService({ terminalBackend: terminals });
  const ada = await aPerson(service, 'ada');
  const box = { name: 'dev', memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
  await as(service, ada)('POST', '/api/containers', box);
  const client = await sshByKey(t, service, ada, 'dev');
  t.teardown(() => client.end());
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.shell((error, shell) => (error ? reject(error) : resolve(shell)));
  });
  let received = 0;
  channel.on('data', (data: Buffer) => {
    received += data.length;
  });
  await waitFor(() => terminals.opened.length === 1);
  const left = await promisesLeft(async () => {
    const before = received;
    terminals.opened[0]?.say('x');
    await waitFor(() => received > before);
  });
  t.ok(left < ROUNDS / 2, `${left} promises are left of ${ROUNDS} pieces of output`);
});

t.test('waiting for a slow client leaves nothing in memory', async (t) => {
  const taken: (() => void)[] = [];
  const socket = new Duplex({
    highWaterMark: 1,
    read() {},
    write: (_chunk, _encoding, done) => taken.push(done),
  });
  const carrier = new Carrier(socket);
  const left = await promisesLeft(async () => {
    socket.write('x');
    const room = carrier.room();
    taken.pop()?.();
    await room;
  });
  t.ok(left < ROUNDS / 2, `${left} promises are left of ${ROUNDS} waits`);
  socket.write('x');
  const room = carrier.room();
  socket.destroy();
  await once(socket, 'close');
  await room;
});
