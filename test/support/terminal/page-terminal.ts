import { connect, type Socket as NetSocket } from 'node:net';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { type OpenSocket, platformSocket } from '../../../src/client/socket/socket.ts';
import { Connection } from '../../../src/client/terminal/connection.ts';
import type { ConnectionState } from '../../../src/client/terminal/connection-types.ts';
import { waitFor } from '../patience.ts';
import type { TerminalAddress } from './terminal-client.ts';

export type PageTerminal = {
  /** All states so far, oldest first. */
  readonly states: readonly ConnectionState[];
  readonly type: (text: string) => void;
  /** Waits for output that has come since the last wait. */
  shows(text: string | RegExp, seconds?: number): Promise<string>;
  until(check: () => boolean, seconds?: number): Promise<void>;
};

/** A terminal of the page without its window: it comes back by itself where the page does. */
export function pageTerminal(
  t: Test,
  { address, dbId, token }: TerminalAddress,
  connectionId = 'main',
): PageTerminal {
  const states: ConnectionState[] = [];
  let output = '';
  const connection = new Connection(
    { containerId: dbId, connectionId, size: { cols: 80, rows: 24 } },
    { origin: address, openSocket: platformSocket, token: async () => token, probe: async () => 'ok' },
    {
      health: () => {},
      state: (state) => states.push(state),
      bytes: (data) => {
        output += Buffer.from(data).toString();
      },
      resumed: () => {},
      frame: () => {},
    },
  );
  t.teardown(() => connection.close());
  connection.open();
  const until = (check: () => boolean, seconds = 60): Promise<void> =>
    waitFor(check, {
      patienceMs: seconds * 1000,
      everyMs: 10,
      what: () => `${check}; ${JSON.stringify(states.at(-1))}; ${JSON.stringify(output.slice(-2000))}`,
    });
  return {
    states,
    type: (text) => connection.write(Buffer.from(text)),
    until,
    async shows(text, seconds) {
      const holds = (): boolean => (typeof text === 'string' ? output.includes(text) : text.test(output));
      await until(holds, seconds);
      const shown = output;
      output = '';
      return shown;
    },
  };
}

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
