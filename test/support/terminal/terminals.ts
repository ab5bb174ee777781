import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import type { Service } from '../../../src/app/main/service.ts';
import { CLOSE } from '../../../src/domain/terminals/terminal.ts';
import type { StreamEnd } from '../../../src/domain/terminals/terminal-end.ts';
import type { PtyStream, TerminalBackend } from '../../../src/ports/terminals/terminal-backend.ts';
import { eventually } from '../patience.ts';
import { as, ORIGIN, type Person } from '../service/service.ts';
import { closeAtOnce } from '../service/streams.ts';

/** A terminal whose program does what the test says: `say` is its output, `typed` what reached it. */
export type FakePty = {
  say(text: string | Buffer): void;
  typed(): string;
  end(): void;
  /** How often a redraw was asked for. */
  redraws(): number;
  readonly stream: Duplex;
};

/** `muxed`: whether the image has a multiplexer. `isFallback`: it has one that does not start. `endsAs` says how streams end from now on. */
export function fakeTerminals({ muxed = true, isFallback = false } = {}) {
  let ending: StreamEnd = { kind: 'exited', code: 0 };
  const opened: FakePty[] = [];
  const killed: string[] = [];
  const closed: string[] = [];
  const backend: TerminalBackend = {
    async open(_handle, { muxSession, startAfter }): Promise<PtyStream> {
      await startAfter;
      let typed = '';
      let redraws = 0;
      const stream = new Duplex({
        read() {},
        write(chunk, _encoding, done) {
          typed += chunk;
          done();
        },
      });
      const end = (): void => {
        stream.push(null);
        stream.once('end', () => stream.destroy());
      };
      opened.push({
        stream,
        typed: () => typed,
        say: (text) => stream.push(text),
        end,
        redraws: () => redraws,
      });
      return {
        stream,
        write: (input, done) => void stream.write(input, (error) => error ?? done?.()),
        muxSession: muxed && !isFallback ? muxSession : null,
        isFallback,
        requestScrollback: async () => ({ program: 'shell', snapshot: null }),
        redraw: async () => {
          redraws += 1;
        },
        resize: async () => {},
        ending: async () => ending,
        async close() {
          closed.push(muxSession);
          stream.destroy();
        },
      };
    },
    checkReach: async () => {},
    hasMultiplexer: async () => muxed,
    async killMuxSession(_handle, name, isWanted) {
      if (!(await isWanted?.())) killed.push(name);
    },
    leftovers: async () => ({ sessions: [], marks: [] }),
    endMarked: async () => {},
  };
  const endsAs = (how: StreamEnd): void => {
    ending = how;
  };
  return { ...backend, opened, killed, closed, endsAs };
}

/** Terminals that start at once, and open or fail when the test says so; `wanted` is what each was opened for. */
export function slowTerminals(options: { muxed?: boolean; isFallback?: boolean } = {}) {
  const backend = fakeTerminals(options);
  const wanted: string[] = [];
  const waiting: ((fault?: Error) => void)[] = [];
  return {
    ...backend,
    wanted,
    openAll: () => void waiting.splice(0).map((go) => go()),
    failAll: (fault: Error) => void waiting.splice(0).map((go) => go(fault)),
    async open(...args: Parameters<typeof backend.open>) {
      wanted.push(args[1].sharedAs?.mode ?? 'own');
      const { muxSession, startAfter, onStarted } = args[1];
      await startAfter;
      onStarted?.(options.muxed === false ? null : muxSession);
      const fault = await new Promise<Error | undefined>((resolve) => waiting.push(resolve));
      if (fault !== undefined) throw fault;
      return await backend.open(...args);
    },
  };
}

/** Listens, and ends with `t` whatever is still open. Answers the WebSocket address. */
export async function listening(t: Test, { http, terminals }: Service): Promise<string> {
  t.teardown(async () => {
    terminals.closeEverything(CLOSE.serviceRestarting);
    await closeAtOnce(http);
  });
  return (await http.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws');
}

/** The same for HTTP. */
export const serverOf = async (t: Test, service: Service): Promise<string> =>
  (await listening(t, service)).replace('ws', 'http');

export type OpenSocket = {
  readonly socket: WebSocket;
  readonly output: () => string;
  /** Code and reason of the close; 1006 when there was no close but an end. */
  closed(): Promise<readonly [code: number, reason: string] | 'still open'>;
  /** Whether the service answers a ping, which it does after all that it sent before, a close among it. */
  alive(): Promise<boolean>;
};

/** The socket, or the refusal of its upgrade: status, code, and when to come again. */
export async function opened(
  url: string,
  protocols: string[],
  headers: Record<string, string> = {},
): Promise<WebSocket | unknown[]> {
  const socket = new WebSocket(url, protocols, { origin: ORIGIN, headers });
  const refused = Promise.withResolvers<unknown[]>();
  socket.once('unexpected-response', async (request, response) => {
    const { code } = (await json(response)) as { code: string };
    refused.resolve([response.statusCode, code, response.headers['retry-after']]);
    request.destroy();
  });
  return await Promise.race([once(socket, 'open').then(() => socket), refused.promise]);
}

/** A terminal that has said that it is ready, or was refused. */
export async function openTerminal(
  address: string,
  dbId: string,
  who: Person,
  pane = 'main',
): Promise<OpenSocket> {
  const url = `${address}/api/containers/${dbId}/terminal?connection_id=${pane}`;
  const socket = new WebSocket(url, ['berth.terminal.v1', `bearer.${who.token}`], { origin: ORIGIN });
  let output = '';
  let close: readonly [number, string] | undefined;
  socket.on('error', () => {});
  socket.on('close', (code, reason) => {
    close = [code, String(reason)];
  });
  const ready = new Promise<void>((resolve) => {
    socket.on('message', (data, isBinary) => {
      if (isBinary) output += String(data);
      else resolve();
    });
  });
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([ready, gone]);
  return {
    socket,
    output: () => output,
    async closed() {
      return (await eventually(() => close, Boolean)) ?? 'still open';
    },
    alive: () =>
      new Promise((resolve) => {
        if (socket.readyState !== WebSocket.OPEN) return resolve(false);
        socket.once('pong', () => resolve(close === undefined));
        socket.once('close', () => resolve(false));
        socket.ping();
      }),
  };
}

/** A running container of somebody; its row id. */
export async function aContainerOf(service: Service, who: Person): Promise<string> {
  const made = await as(service, who)('POST', '/api/containers', { name: 'dev' });
  return made.json().db_id;
}
