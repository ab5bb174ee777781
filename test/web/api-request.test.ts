import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { unreachable } from '../../web/src/api/errors.ts';
import { request } from '../../web/src/api/request.ts';

/** A server that cuts the connections of its first requests, and the requests it saw. */
async function cutting(t: Test, cuts: number) {
  const seen: string[] = [];
  const server = createServer((incoming, reply) => {
    seen.push(`${incoming.method}`);
    if (seen.length <= cuts) incoming.socket.destroy();
    else reply.end('{"fine":true}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return { seen, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

t.test('a look at something is repeated once when the network fails under it', async (t) => {
  const one = await cutting(t, 1);
  t.same(await request(one.address), { fine: true });
  const two = await cutting(t, 2);
  await t.rejects(request(two.address), unreachable());
  t.same([one.seen, two.seen], [Array(2).fill('GET'), Array(2).fill('GET')]);
});

t.test('what changes something is sent once', async (t) => {
  const { seen, address } = await cutting(t, 1);
  await t.rejects(request(address, { method: 'POST', body: {} }), unreachable());
  t.same(seen, ['POST']);
});
