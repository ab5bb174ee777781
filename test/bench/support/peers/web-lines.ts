/** Clients of the web terminals that Berth is compared with. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Line, lineOf } from '../terminals/scene.ts';

const SIZE = { cols: 80, rows: 24 };
/** For the shell to end: a client that goes leaves it in the container. */
const LEAVE_MS = 300;

type Take = (chunk: Buffer) => void;

// ttyd: a WebSocket whose messages begin with a character for their kind.

const [OUTPUT, INPUT] = ['0'.charCodeAt(0), '0'];

/** `args` follow the server's command. */
export async function ttydLine(port: number, args: readonly string[], first: Take): Promise<Line> {
  const query = args.map((arg) => `arg=${encodeURIComponent(arg)}`).join('&');
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?${query}`, ['tty'], { perMessageDeflate: false });
  let take = first;
  socket.on('message', (data: Buffer) => {
    if (data[0] === OUTPUT) take(data.subarray(1));
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ AuthToken: '', columns: SIZE.cols, rows: SIZE.rows }));
  const write = (text: string): void => socket.send(Buffer.from(INPUT + text));
  return lineOf({
    write,
    read: (next) => {
      take = next;
    },
    stopReading: () => socket.pause(),
    async close() {
      if (socket.readyState === socket.OPEN) write('exit\r');
      await delay(LEAVE_MS);
      socket.terminate();
    },
  });
}

// wetty: Socket.IO, with text as output, and acknowledgements without which it pauses.

const COMMIT_CHARACTERS = 262_144;
/** The file with the container for the next terminal. */
export const NEXT_BOX = 'next-box';

type SocketIo = {
  on(event: string, take: (text: string) => void): void;
  once(event: string, take: (value: Error) => void): void;
  emit(event: string, value: unknown): void;
  disconnect(): void;
};
type Io = (url: string, options: object) => SocketIo;

type WettyWay = { readonly port: number; readonly folder: string; readonly runtimeId: string };

export async function wettyLine({ port, folder, runtimeId }: WettyWay, first: Take): Promise<Line> {
  const { io } = createRequire(path.join(folder, 'package.json'))('socket.io-client') as { io: Io };
  writeFileSync(path.join(folder, NEXT_BOX), `${runtimeId}\n`);
  const options = {
    path: '/wetty/socket.io',
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  };
  const socket = io(`http://127.0.0.1:${port}`, options);
  let take = first;
  let uncommitted = 0;
  socket.on('data', (text) => {
    take(Buffer.from(text));
    uncommitted += text.length;
    if (uncommitted < COMMIT_CHARACTERS) return;
    socket.emit('commit', uncommitted);
    uncommitted = 0;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('login', () => resolve());
    socket.once('connect_error', reject);
  });
  socket.emit('resize', SIZE);
  return lineOf({
    write: (text) => socket.emit('input', text),
    read: (next) => {
      take = next;
    },
    stopReading: () => {
      throw new Error('not with Socket.IO');
    },
    async close() {
      socket.emit('input', 'exit\r');
      await delay(LEAVE_MS);
      socket.disconnect();
    },
  });
}
