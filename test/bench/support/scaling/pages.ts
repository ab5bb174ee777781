/** Pages of signed-in people, as far as the service notices them: an event socket that pings, and a list once a minute. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { client } from '../client.ts';

const PING_EVERY_MS = 25_000;
const LIST_EVERY_MS = 60_000;

/** One page for each token; `close` closes them. */
export async function openPages(address: string, tokens: readonly string[]): Promise<{ close(): void }> {
  const timers: NodeJS.Timeout[] = [];
  const sockets: WebSocket[] = [];
  for (const [n, token] of tokens.entries()) {
    const url = `${address.replace('http', 'ws')}/api/events`;
    const socket = new WebSocket(url, ['berth.events.v1', `bearer.${token}`], { origin: address });
    sockets.push(socket);
    await once(socket, 'open');
    const list = (): void => void client(address, token).call('GET', '/api/containers');
    // Spread over the minute, as people are.
    const first = setTimeout(
      () => {
        list();
        timers.push(setInterval(list, LIST_EVERY_MS));
      },
      (n / tokens.length) * LIST_EVERY_MS,
    );
    timers.push(first);
    timers.push(setInterval(() => socket.send('{"type":"ping","t":1}'), PING_EVERY_MS));
  }
  return {
    close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.terminate();
    },
  };
}
