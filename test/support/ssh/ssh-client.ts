import { once } from 'node:events';
import ssh2 from 'ssh2';
import { createWebSocketStream, WebSocket } from 'ws';

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
