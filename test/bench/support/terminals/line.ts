/** A terminal as who types at it has it: bytes to it and from it, whatever lies between. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { PtyStream } from '../../../../src/ports/terminals/terminal-backend.ts';

export type Line = {
  write(text: string): void;
  /** Output goes to `take` from now on, and to nobody else. */
  read(take: (chunk: Buffer) => void): void;
  /** Waits for a text in what comes from now on. */
  until(text: string, seconds?: number): Promise<void>;
  /** Reads nothing any more, so that what was sent waits. */
  stopReading(): void;
  close(): Promise<void>;
};

/** The engine's own stream, hijacked: what everything else is measured against. */
export function bareLine(pty: PtyStream): Line {
  let take = (_chunk: Buffer): void => {};
  pty.stream.on('data', (chunk: Buffer) => take(chunk));
  return lineOf({
    write: (text) => pty.write(text),
    read: (next) => {
      take = next;
    },
    stopReading: () => pty.stream.pause(),
    close: () => pty.close(),
  });
}

export type ServiceAddress = { readonly address: string; readonly token: string };

/** A terminal of the service over its WebSocket, ready to be typed at. */
export async function serviceLine(
  { address, token }: ServiceAddress,
  container: string,
  pane: string,
): Promise<Line> {
  const url = `${address.replace('http', 'ws')}/api/containers/${container}/terminal?connection_id=${pane}`;
  const protocols = ['berth.terminal.v1', `bearer.${token}`];
  const socket = new WebSocket(url, protocols, { perMessageDeflate: false, origin: address });
  let take = (_chunk: Buffer): void => {};
  const ready = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) take(data);
    else if (data.includes('"ready"')) ready.resolve();
  });
  socket.once('close', (code, reason) => ready.reject(new Error(`closed with ${code} ${reason}`)));
  socket.once('error', (error) => ready.reject(error));
  await ready.promise;
  return lineOf({
    write: (text) => socket.send(Buffer.from(text)),
    read: (next) => {
      take = next;
    },
    stopReading: () => socket.pause(),
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      socket.resume();
      socket.close(1000);
      await Promise.race([once(socket, 'close'), delay(5_000)]);
      socket.terminate();
    },
  });
}

/** Whatever can be written to and read, as a line. */
export function lineOf(line: Omit<Line, 'until'>): Line {
  return {
    ...line,
    async until(text, seconds = 60) {
      const found = Promise.withResolvers<void>();
      const late = setTimeout(() => found.reject(new Error(`no ${text} came: ${tail}`)), seconds * 1000);
      let tail = '';
      line.read((chunk) => {
        tail = tail.slice(-text.length) + chunk.toString('latin1');
        if (tail.includes(text)) found.resolve();
      });
      await found.promise.finally(() => clearTimeout(late));
    },
  };
}
