import { WebSocket } from 'ws';
import { waitFor } from '../patience.ts';
import { ORIGIN } from './service.ts';

/** A WebSocket, and how it ended: by the status that refused it, or by the code and reason of its close. */
export function aSocket(url: string, protocol: string, token: string) {
  const socket = new WebSocket(url, [protocol, `bearer.${token}`], { origin: ORIGIN });
  let end: number | readonly [code: number, reason: string] | null = null;
  socket.on('error', () => {});
  socket.on('unexpected-response', (_request, answer) => {
    end = answer.statusCode ?? 0;
    socket.terminate();
  });
  socket.on('close', (code, reason) => {
    end ??= [code, String(reason)];
  });
  return {
    socket,
    end: () => end,
    send: (frame: object): void => socket.send(JSON.stringify(frame)),
    async closed() {
      await waitFor(() => end !== null, { what: 'the close' });
      return end;
    },
  };
}
