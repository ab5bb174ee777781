import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { hangUp } from '../../src/adapters/websocket/hang-up.ts';
import { CLOSE } from '../../src/domain/terminal.ts';

/** Opens connections whose clients read nothing, so that they answer no close. */
async function deafClients(t: Test) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const clients: WebSocket[] = [];
  t.teardown(() => {
    for (const client of clients) client.terminate();
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return async (): Promise<WebSocket> => {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    clients.push(client);
    const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'open')]);
    client.pause();
    return socket;
  };
}

for (const lost of [CLOSE.unauthorized, CLOSE.collaborationEnded]) {
  t.test(`who does not answer "${lost.reason}" is cut off before who may stay`, async (t) => {
    const open = await deafClients(t);
    const [kept, cut] = [await open(), await open()];
    hangUp(kept, CLOSE.containerStopped);
    hangUp(cut, lost);
    await once(cut, 'close');
    t.equal(kept.readyState, WebSocket.CLOSING);
  });
}
