/** Sends one message to all clients in one of the ways of `EVENT_RUNGS`, the argument. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { textFrame } from '../../../../src/adapters/websocket/events/event-frames.ts';
import { announce, nowMs, onAnnounce } from '../servers.ts';
import type { EventRung } from './rungs.ts';

const rung = process.argv[2] as EventRung;
const id = '11111111-1111-4111-8111-111111111111';
const data = { id, db_id: id, name: 'calm-harbor', status: 'stopped' };
const time = new Date().toISOString();
const message = Buffer.from(JSON.stringify({ type: 'container_stopped', data, id: '1234-56', time }));
const frame = textFrame(String(message));

/** Below the library's types. */
type Inner = { readonly _socket: Socket & { readonly _handle: { readonly fd: number } } };
const inner = (client: WebSocket) => (client as unknown as Inner)._socket;
const WAYS: Readonly<Record<EventRung, (client: WebSocket) => void>> = {
  'write(2)': (client) => void writeSync(inner(client)._handle.fd, frame),
  'socket.write': (client) => void inner(client).write(frame),
  'ws.send': (client) => client.send(message, { binary: false }),
};

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
onAnnounce(() => {
  const beganAtMs = nowMs();
  const way = WAYS[rung];
  for (const client of server.clients) way(client);
  return beganAtMs;
});
announce({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, async () => {
  for (const client of server.clients) client.terminate();
  server.close();
});
