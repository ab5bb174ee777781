import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { clearDeadRuns, clearFolder } from '../folder.ts';
import { type Answer, folderOf, type Message, type Need, socketOf } from './infra.ts';
import { findBrowser } from './keeper/browser.ts';
import { startBusybox } from './keeper/busybox.ts';
import { startEngine } from './keeper/engine.ts';
import { findNode20 } from './keeper/node20.ts';
import { type Part, reasonOf, type Use } from './keeper/part.ts';
import { findSystemPostgres, startPostgres } from './keeper/postgres.ts';
import { findRedis } from './keeper/redis.ts';
import { startSharedService } from './keeper/service.ts';
import { findShells } from './keeper/shells.ts';

// The process that owns a run's database server and engine. Its argument is the run's process.
const owner = Number(process.argv[2]);
const folder = folderOf(owner);
const starters = {
  postgres: startPostgres,
  engine: startEngine,
  busybox: startBusybox,
  browser: findBrowser,
  service: startSharedService,
  systemPostgres: findSystemPostgres,
  redis: findRedis,
  shells: findShells,
  node20: findNode20,
};
/** Interval at which a keeper asks whether another one exists. */
const BUSY_RETRY_MS = 50;
/** A part that ends by itself is restarted once. */
const MOST_STARTS = 2;

type Started = {
  readonly part: Promise<Part>;
  readonly listeners: Set<Socket>;
  readonly starts: number;
  /** Why it ended; null while it runs. */
  ended: string | null;
};
const started = new Map<Need, Started>();
/** Parts that use others stop first. */
const STOPPED_FIRST: ReadonlySet<Need> = new Set(['service']);

function need(name: Need, socket: Socket): void {
  const entry = inUse(name);
  entry.listeners.add(socket);
  const answer = entry.part.then(
    ({ value }): Answer => (entry.ended === null ? { ok: true, value } : { ok: false, reason: entry.ended }),
    (error): Answer => ({ ok: false, reason: reasonOf(error) }),
  );
  void answer.then((ready) => tell(socket, { answer: ready }));
}

function inUse(name: Need): Started {
  const last = started.get(name);
  if (last === undefined) return begin(name, 1);
  return last.ended !== null && last.starts < MOST_STARTS ? begin(name, last.starts + 1) : last;
}

const use: Use = async (name) => (await (inUse(name).part as Promise<Part<typeof name>>)).value;

function begin(name: Need, starts: number): Started {
  const listeners = new Set<Socket>();
  const say = (line: string): void => {
    console.log(`${name}: ${line}`);
    for (const socket of listeners) tell(socket, { progress: line });
  };
  const entry: Started = { part: starters[name](folder, say, use), listeners, starts, ended: null };
  entry.part.then(
    async ({ ended }) => {
      if (ended === undefined) return;
      entry.ended = await ended;
      console.error(`${name}: ${entry.ended}`);
    },
    (error) => console.error(error),
  );
  started.set(name, entry);
  return entry;
}

const tell = (socket: Socket, message: Message): void => {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
};

let stopping: Promise<void> | undefined;

/** Waits for parts being started: half an engine must not remain. */
function stop(): Promise<void> {
  stopping ??= (async () => {
    await stopThose((name) => STOPPED_FIRST.has(name));
    await stopThose((name) => !STOPPED_FIRST.has(name));
    await clearFolder(folder);
  })();
  return stopping;
}

async function stopThose(areThey: (name: Need) => boolean): Promise<void> {
  const those = [...started].filter(([name]) => areThey(name));
  const stops = those.map(async ([, { part }]) => (await part).stop());
  for (const { status, ...rest } of await Promise.allSettled(stops)) {
    if (status === 'rejected') console.error(rest);
  }
}

function serve(socket: Socket): void {
  socket.on('error', () => {});
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    const request = JSON.parse(line) as { need: Need } | { stop: true };
    if ('need' in request) need(request.need, socket);
    else void stop().then(() => process.exit());
  });
  // A killed test process with an unread answer resets its connection, which readline passes on.
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
      // A killed one left its socket.
      rmSync(socketOf(owner), { force: true });
      listen(server);
    });
  });
  server.listen(socketOf(owner));
}

/** Field 22, so that a reused process number is not mistaken for the run. */
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
