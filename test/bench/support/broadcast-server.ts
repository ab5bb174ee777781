/** `ws` with default options sending one message to all clients: the baseline for events. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { announce, nowMs, onAnnounce } from './servers.ts';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
onAnnounce(() => {
  const data = { id: randomUUID(), db_id: randomUUID(), name: 'calm-harbor', status: 'stopped' };
  const event = { type: 'container_stopped', data, id: '1234-56', time: new Date().toISOString() };
  const beganAtMs = nowMs();
  const frame = Buffer.from(JSON.stringify(event));
  for (const client of server.clients) client.send(frame, { binary: false });
  return beganAtMs;
});
announce({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, async () => {
  for (const client of server.clients) client.terminate();
  server.close();
});
