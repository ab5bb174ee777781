import type { WebSocket as NodeWebSocket } from 'ws';
import { COMING_BACK, type OpenSocket, platformSocket } from './socket.ts';

/** As a variable, so that bundlers for browsers leave it out. */
const PACKAGE: string = 'ws';

/** The class of the package `ws`. */
export type WebSocketClass = new (url: string, protocols: string[]) => NodeWebSocket;

const isNode = (): boolean =>
  (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

/** Opens WebSockets by the package `ws` in Node.js, which can stop reading, else by the platform's own. */
export async function bestSocket(): Promise<OpenSocket> {
  if (!isNode()) return platformSocket;
  try {
    const module = await import(/* @vite-ignore */ /* webpackIgnore: true */ PACKAGE);
    return socketBy((module as { readonly WebSocket: WebSocketClass }).WebSocket);
  } catch (cause) {
    if ('WebSocket' in globalThis) return platformSocket;
    throw new Error('install the package ws, or use Node.js 22 or newer', { cause });
  }
}

/** Opens WebSockets of the package `ws`. */
export const socketBy =
  (WebSocket: WebSocketClass): OpenSocket =>
  (url, protocols, listener) => {
    const socket = new WebSocket(url, protocols);
    let opened = false;
    socket.on('open', () => {
      opened = true;
      listener.opened?.();
    });
    // The close follows.
    socket.on('error', () => {});
    socket.on('message', (data: Buffer<ArrayBuffer>, isBinary) =>
      isBinary ? listener.bytes(data) : listener.text(data.toString()),
    );
    socket.on('close', (code, reason) => listener.closed(code, reason.toString(), opened));
    return {
      send: (data) => socket.send(data),
      unsentBytes: () => socket.bufferedAmount,
      flow: { pause: () => socket.pause(), resume: () => socket.resume() },
      drop(final) {
        for (const name of ['open', 'message', 'close']) socket.removeAllListeners(name);
        socket.resume();
        if (final) socket.close(1000, 'closed by the client');
        else socket.close(COMING_BACK, 'coming back');
      },
    };
  };
