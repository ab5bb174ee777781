import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { clearDeadRuns, clearFolder } from './folder.ts';
import { type Answer, folderOf, type Message, type Need, socketOf } from './infra.ts';
import { startBrowser } from './keeper/browser.ts';
import { startEngine } from './keeper/engine.ts';
import { type Part, reasonOf } from './keeper/part.ts';
import { startPostgres } from './keeper/postgres.ts';
import { findSystemPostgres } from './keeper/system-postgres.ts';

// The process that owns the database server and the engine of one test run, whose process it is given.
const owner = Number(process.argv[2]);
const folder = folderOf(owner);
const starters = {
  postgres: startPostgres,
  engine: startEngine,
  browser: startBrowser,
  systemPostgres: findSystemPostgres,
};
const BUSY_RETRY_MS = 50;
const started = new Map<Need, { part: Promise<Part>; listeners: Set<Socket> }>();

function need(name: Need, socket: Socket): void {
  const { part, listeners } = started.get(name) ?? begin(name);
  listeners.add(socket);
  const answer = part.then(
    ({ value }): Answer => ({ ok: true, value }),
    (error): Answer => ({ ok: false, reason: reasonOf(error) }),
  );
  void answer.then((ready) => tell(socket, { answer: ready }));
}

function begin(name: Need) {
  const listeners = new Set<Socket>();
  const say = (line: string): void => {
    console.log(`${name}: ${line}`);
    for (const socket of listeners) tell(socket, { progress: line });
  };
  const entry = { part: starters[name](folder, say), listeners };
  entry.part.catch((error) => console.error(error));
  started.set(name, entry);
  return entry;
}

const tell = (socket: Socket, message: Message): void => {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
};

let stopping: Promise<void> | undefined;

/** Parts that are still being started are waited for: half of an engine must not stay behind. */
function stop(): Promise<void> {
  stopping ??= (async () => {
    const all = [...started.values()].map(async ({ part }) => (await part).stop());
    for (const { status, ...rest } of await Promise.allSettled(all)) {
      if (status === 'rejected') console.error(rest);
    }
    await clearFolder(folder);
  })();
  return stopping;
}

function serve(socket: Socket): void {
  socket.on('error', () => {});
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    const request = JSON.parse(line) as { need: Need } | { stop: true };
    if ('need' in request) need(request.need, socket);
    else void stop().then(() => process.exit());
  });
  // A test process that is killed with an unread answer resets its connection, and readline passes that on.
  lines.on('error', () => {});
}

function listen(server: Server): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  server.once('error', () => {
    const other = connect(socketOf(owner));
    // Another keeper of this run was faster.
    other.once('connect', () => process.exit());
    other.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EAGAIN') {
        console.log('the other keeper of this run is busy');
        setTimeout(() => listen(server), BUSY_RETRY_MS);
        return;
      }
      // One that was killed left its socket.
      rmSync(socketOf(owner), { force: true });
      listen(server);
    });
  });
  server.listen(socketOf(owner));
}

/** Field 22, so that a recycled process number is not taken for the run. */
function birthOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').split(' ')[20] ?? null;
  } catch {
    return null;
  }
}

const birth = birthOf(owner);
setInterval(() => {
  if (birthOf(owner) !== birth || birth === null) void stop().then(() => process.exit());
}, 500);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => void stop().then(() => process.exit()));
listen(createServer(serve));
await clearDeadRuns();
