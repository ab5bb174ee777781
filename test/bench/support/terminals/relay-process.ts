/** A terminal of the engine behind a WebSocket: the least that a process for browsers can do. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { bareTerminal } from './scene.ts';

const [endpoint = '', runtimeId = ''] = process.argv.slice(2);
const answer = await probe(addressOf(endpoint, null));
if (!answer.answers) throw new Error('the engine does not answer');
const pty = await bareTerminal(answer.docker, runtimeId);

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', (chunk: Buffer) => pty.write(chunk));
  pty.stream.on('data', (chunk: Buffer) => socket.send(chunk));
  socket.once('close', () => void pty.close().then(() => process.exit()));
});
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
