import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import type { Service } from '../../../src/app/main/compose.ts';
import { aFolder } from '../folder.ts';

/** Makes the service listen on a unix socket, whose buffers in the kernel are small, until `t` ends. */
export async function listenOnUnix(t: Test, { http }: Pick<Service, 'http'>): Promise<string> {
  const socketPath = path.join(aFolder(t), 'http');
  await http.listen({ path: socketPath });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  return socketPath;
}

/** A connection that sends this and reads nothing. */
export async function unreadConnection(t: Test, socketPath: string, bytes: string): Promise<Socket> {
  const socket = connect(socketPath);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}
