import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { waitFor } from '../support/patience.ts';
import { anAdmin, aPerson, aService, as, ORIGIN, type Person } from '../support/service.ts';
import { aContainerOf, listening } from '../support/terminals.ts';

const FULL = [429, 'address_full', '30'];

/** Ada and Bob, each with a container, behind a proxy, where an address may have three sockets. */
async function scene(t: Test) {
  const service = await aService({}, { trustProxy: ['127.0.0.1'] });
  const address = await listening(t, service);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const boxes = new Map([
    [ada, await aContainerOf(service, ada)],
    [bob, await aContainerOf(service, bob)],
  ]);
  await service.ports.storage.repositories.settings.change({ socketsPerAddress: 3 });
  const open = (url: string, protocol: string, { token }: Person, from: string) =>
    opened(`${address}${url}`, [protocol, `bearer.${token}`], from);
  return {
    ada,
    bob,
    events: (who: Person, from: string) => open('/api/events', 'berth.events.v1', who, from),
    terminal: (who: Person, from: string) =>
      open(`/api/containers/${boxes.get(who)}/terminal`, 'berth.terminal.v1', who, from),
  };
}

/** The socket, or how its upgrade was refused. */
async function opened(url: string, protocols: string[], from: string): Promise<WebSocket | unknown[]> {
  const socket = new WebSocket(url, protocols, { origin: ORIGIN, headers: { 'x-forwarded-for': from } });
  return await new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (request, response) => {
      let body = '';
      response.on('data', (data) => {
        body += data;
      });
      response.on('end', () => {
        resolve([response.statusCode, JSON.parse(body).code, response.headers['retry-after']]);
        request.destroy();
      });
    });
  });
}

t.test('sockets of all users behind one address count, by what the proxy says', async (t) => {
  const { ada, bob, events, terminal } = await scene(t);
  const first = await events(ada, '192.0.2.1');
  t.type(await terminal(ada, '192.0.2.1'), WebSocket);
  t.type(await events(bob, '192.0.2.1'), WebSocket);
  t.same(await events(ada, '192.0.2.1'), FULL);
  t.same(await terminal(bob, '192.0.2.1'), FULL, 'terminals and events count alike');
  t.type(await events(ada, '192.0.2.2'), WebSocket, 'another address is not concerned');
  (first as WebSocket).close();
  await waitFor(async () => (await events(bob, '192.0.2.1')) instanceof WebSocket);
});

t.test('of IPv6 a /64 is one address', async (t) => {
  const { ada, events } = await scene(t);
  for (const last of ['1', '2:3', 'ffff']) t.type(await events(ada, `2001:db8:0:1::${last}`), WebSocket);
  t.same(await events(ada, '2001:db8:0:1:a:b:c:d'), FULL);
  t.type(await events(ada, '2001:db8:0:2::1'), WebSocket);
});

t.test('a socket that is refused for another reason counts for no address', async (t) => {
  const { ada, events } = await scene(t);
  const nobody = { ...ada, token: 'nonsense' };
  for (let n = 0; n < 5; n += 1) t.match(await events(nobody, '192.0.2.1'), [401]);
  t.type(await events(ada, '192.0.2.1'), WebSocket);
});

t.test('administrators set the limit, never so low that an office is locked out', async (t) => {
  const service = await aService();
  const root = as(service, await anAdmin(service));
  const url = '/api/admin/settings';
  t.equal((await root('GET', url)).json().sockets_per_address, 1000);
  for (const wrong of [0, 249, 1_000_001]) {
    t.equal((await root('PATCH', url, { sockets_per_address: wrong })).statusCode, 400, `${wrong}`);
  }
  t.equal((await root('PATCH', url, { sockets_per_address: 250 })).json().sockets_per_address, 250);
});
