import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Test } from 'tap';

/** Makes a server listen until `t` ends, and answers its port. */
export async function portOf(t: Test, server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening');
  t.teardown(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** The same for HTTP, as an address. */
export const addressOf = async (t: Test, server: HttpServer): Promise<string> =>
  `http://127.0.0.1:${await portOf(t, server)}`;

/** A port of loopback that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
