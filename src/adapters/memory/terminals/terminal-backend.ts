import { Duplex } from 'node:stream';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import {
  ContainerNotRunning,
  type ContainerObserver,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type {
  PtyStream,
  TerminalBackend,
  TerminalRequest,
} from '../../../ports/terminals/terminal-backend.ts';

const PROMPT = '$ ';

/** A session echoes input, prints the size for `size`, and ends with `exit N`. */
type Session = { screen: string; line: string; readonly viewers: Set<Viewer> };
type Viewer = {
  readonly name: string;
  readonly stream: Duplex;
  readonly marker: string;
  size: string;
  end(how: StreamEnd): void;
};

/** Terminals with an echo program; sessions live as long as their container runs. */
export function memoryTerminals(runtime: ContainerObserver): TerminalBackend {
  const sessions = new Map<string, Session>();
  const runOf = async (handle: RuntimeHandle): Promise<string> => {
    const observed = await runtime.observe(handle);
    if (observed.kind === 'running') return `${handle.runtimeId} ${observed.startedAt.getTime()}`;
    throw new ContainerNotRunning('container is not running', observed.kind === 'gone');
  };
  const endSession = (key: string, exitCode: number | null): void => {
    for (const viewer of sessions.get(key)?.viewers ?? []) viewer.end({ kind: 'exited', code: exitCode });
    sessions.delete(key);
  };
  const endParticipant = (run: string, name: string): void => {
    for (const [key, { viewers }] of sessions) {
      if (!key.startsWith(`${run} `)) continue;
      for (const viewer of viewers) if (viewer.name === name) viewer.end({ kind: 'exited', code: null });
    }
  };
  return {
    async open(handle, request) {
      await request.startAfter;
      const key = `${await runOf(handle)} ${request.muxSession}`;
      if (request.forceNew) endSession(key, 0);
      const session = sessions.get(key) ?? { screen: PROMPT, line: '', viewers: new Set<Viewer>() };
      sessions.set(key, session);
      request.onStarted?.(sessionOf(request));
      return attach(session, request, (exitCode) => endSession(key, exitCode));
    },
    checkReach: async () => {},
    hasMultiplexer: async () => true,
    async killMuxSession(handle, name, isWanted) {
      const run = await runOf(handle).catch(() => null);
      if (run === null || (await isWanted?.())) return;
      endParticipant(run, name);
      endSession(`${run} ${name}`, 0);
    },
    async leftovers(handle) {
      const prefix = `${await runOf(handle)} `;
      const here = [...sessions].filter(([key]) => key.startsWith(prefix));
      const viewers = here.flatMap(([, session]) => [...session.viewers]);
      return {
        sessions: here.map(([key]) => key.slice(prefix.length)),
        marks: viewers.map(({ marker }) => marker),
      };
    },
    async endMarked(_handle, marker) {
      for (const { viewers } of sessions.values())
        for (const viewer of [...viewers]) if (viewer.marker === marker) viewer.end({ kind: 'lost' });
    },
  };
}

const sessionOf = ({ sharedAs, muxSession }: TerminalRequest): string =>
  sharedAs?.mode === 'control' ? sharedAs.session : muxSession;

function attach(session: Session, request: TerminalRequest, exit: (exitCode: number) => void): PtyStream {
  let ended: (how: StreamEnd) => void = () => {};
  const ending = new Promise<StreamEnd>((resolve) => {
    ended = resolve;
  });
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      const heard = request.sharedAs?.mode === 'view' ? '' : chunk.toString('latin1');
      for (const character of heard) type(session, viewer, character, exit);
      done();
    },
  });
  const name = sessionOf(request);
  const viewer: Viewer = {
    name,
    stream,
    marker: request.marker,
    size: `${request.cols}x${request.rows}`,
    end(how) {
      session.viewers.delete(viewer);
      ended(how);
      stream.push(null);
      stream.once('end', () => stream.destroy());
      stream.resume();
    },
  };
  session.viewers.add(viewer);
  stream.push(session.screen, 'latin1');
  return {
    stream,
    write: (input, done) => void stream.write(input, (error) => error ?? done?.()),
    muxSession: name,
    async resize(cols, rows) {
      viewer.size = `${cols}x${rows}`;
    },
    requestScrollback: async () => ({ program: 'shell', snapshot: null }),
    redraw: async () => {},
    ending: () => ending,
    async close() {
      viewer.end({ kind: 'lost' });
      stream.destroy();
    },
  };
}

function type(session: Session, viewer: Viewer, character: string, exit: (exitCode: number) => void): void {
  if (character === '\r') {
    enter(session, viewer, exit);
  } else {
    session.line += character;
    show(session, character);
  }
}

function enter(session: Session, viewer: Viewer, exit: (exitCode: number) => void): void {
  const line = session.line;
  session.line = '';
  const asked = /^exit ?(\d*)$/.exec(line);
  if (asked === null) show(session, `\r\n${line === 'size' ? `${viewer.size}\r\n` : ''}${PROMPT}`);
  else exit(Number(asked[1] || 0));
}

function show(session: Session, text: string): void {
  session.screen += text;
  for (const { stream } of session.viewers) stream.push(text, 'latin1');
}
