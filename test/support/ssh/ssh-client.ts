import { once } from 'node:events';
import ssh2 from 'ssh2';
import type { Test } from 'tap';
import { createWebSocketStream, WebSocket } from 'ws';
import type { Service } from '../../../src/app/main/service.ts';
import { CLOSE } from '../../../src/domain/terminals/terminal.ts';
import { as, type Bearer } from '../service/service.ts';

/** An SSH client over the WebSocket of a container, which the token alone signs in. It forwards an agent. */
export async function sshOverWebSocket(
  address: string,
  dbId: string,
  { token }: { readonly token: string },
): Promise<ssh2.Client> {
  const url = `${address.replace(/^http/, 'ws')}/api/containers/${dbId}/ssh`;
  const socket = new WebSocket(url, ['berth.ssh.v1', `bearer.${token}`]);
  const client = new ssh2.Client();
  const agent = { agent: '/nonexistent', agentForward: true };
  client.connect({ sock: createWebSocketStream(socket), username: 'berth', ...agent });
  await once(client, 'ready');
  return client;
}

/** An SSH client by the port, signed in with a new key of the user's. */
export async function sshByKey(
  t: Test,
  service: Service,
  who: Bearer,
  username: string,
): Promise<ssh2.Client> {
  if (service.ssh.port() === null) {
    await service.ssh.listen('127.0.0.1', 0);
    t.teardown(() => service.ssh.close(CLOSE.serviceRestarting));
  }
  const make = () => ssh2.utils.generateKeyPairSync('ed25519');
  let key = make();
  // Now and then the library makes a key that it does not read itself.
  while (ssh2.utils.parseKey(key.private) instanceof Error) key = make();
  await as(service, who)('POST', '/api/me/ssh-keys', { public_key: key.public });
  const client = new ssh2.Client();
  client.connect({ host: '127.0.0.1', port: service.ssh.port() ?? 0, username, privateKey: key.private });
  await once(client, 'ready');
  return client;
}
