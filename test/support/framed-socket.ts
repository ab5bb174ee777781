import { connect, type Socket as NetSocket } from 'node:net';
import { WebSocket } from 'ws';
import type { OpenSocket } from '../../web/src/terminal/browser-socket.ts';

/** Frames sent in one turn, so that a million of them leave time for others. */
const FRAMES_A_TURN = 2_000;

/** Sockets of the page's that send input in frames of so many bytes, but for the last one that waits. */
export const socketInFramesOf =
  (frameBytes: number): OpenSocket =>
  (url, protocols, heard) => {
    let line: NetSocket | undefined;
    let isOpen = false;
    let isDropped = false;
    let waiting = Buffer.alloc(0);
    let isPlanned = false;
    const { hostname, port } = new URL(url);
    const createConnection = (): NetSocket => {
      line = connect(Number(port), hostname);
      return line;
    };
    const socket = new WebSocket(url, protocols, { createConnection });
    const sendSome = (): void => {
      isPlanned = false;
      if (socket.readyState !== WebSocket.OPEN) return;
      const end = Math.min(waiting.length, FRAMES_A_TURN * frameBytes);
      line?.cork();
      for (let at = 0; at < end; at += frameBytes) socket.send(waiting.subarray(at, at + frameBytes));
      line?.uncork();
      waiting = waiting.subarray(end);
      if (waiting.length > 0) plan();
    };
    const plan = (): void => {
      if (!isPlanned) setImmediate(sendSome);
      isPlanned = true;
    };
    socket.on('error', () => {});
    socket.on('open', () => {
      isOpen = true;
      heard.opened?.();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isDropped) return;
      if (isBinary) heard.bytes(new Uint8Array(data));
      else heard.text(String(data));
    });
    socket.on('close', (code, reason) => isDropped || heard.closed(code, String(reason), isOpen));
    return {
      send(data) {
        if (typeof data === 'string') return socket.send(data);
        waiting = Buffer.concat([waiting, data]);
        plan();
      },
      unsentBytes: () => waiting.length + socket.bufferedAmount,
      drop(final) {
        isDropped = true;
        socket.close(final ? 1000 : 4000);
      },
    };
  };
