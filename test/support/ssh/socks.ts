import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection through an SSH client's dynamic forward (SOCKS5); null when that refuses the destination. */
export async function throughSocks(socksPort: number, host: string, port: number): Promise<Socket | null> {
  const socket = connect({ host: '127.0.0.1', port: socksPort, allowHalfOpen: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(Buffer.from([5, 1, 0]));
  await answerOf(socket);
  const name = Buffer.from(host);
  const wanted = [Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])];
  socket.write(Buffer.concat(wanted));
  const answer = await answerOf(socket);
  if (answer?.[1] === 0) return socket;
  socket.destroy();
  return null;
}

async function answerOf(socket: Socket): Promise<Buffer | null> {
  const ended = once(socket, 'close').then(() => null);
  const read = once(socket, 'readable').then(() => socket.read() as Buffer | null);
  return await Promise.race([read, ended]);
}

/** All that comes until the other side ends. */
export async function rest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
