import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import {
  Berth,
  type BerthError,
  CommandError,
  type Container,
  type TerminalResume,
} from '../../src/client/index.ts';
import { bestSocket } from '../../src/client/socket/node-socket.ts';
import { eventually, waitFor } from '../support/patience.ts';
import { type CuttingProxy, cuttingProxy } from '../support/process/lines.ts';
import { aPerson, aService } from '../support/service/service.ts';
import { endless } from '../support/service/streams.ts';
import { type FakePty, fakeTerminals, serverOf } from '../support/terminal/terminals.ts';

/** Until a finalizer has run, as that of a response that nothing refers to. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let finalized = false;
  const registry = new FinalizationRegistry(() => {
    finalized = true;
  });
  registry.register({}, null);
  await waitFor(
    () => {
      collect();
      return finalized;
    },
    { what: 'a finalizer' },
  );
}

const SMALL = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };
const BACKOFF = { firstMs: 5, maxMs: 20 };

type Scene = {
  readonly berth: Berth;
  readonly dev: Container;
  readonly line: CuttingProxy;
  /** Not over the line. */
  readonly near: Berth;
};

/** A running container `dev`, over a line that is cut from `begin` on. */
async function aScene(t: Test, ports: Parameters<typeof aService>[0] = {}): Promise<Scene> {
  const service = await aService(ports);
  const address = new URL(await serverOf(t, service));
  const line = await cuttingProxy(t, address, { everyMs: 100, bytesPerMs: 1_000, isCalm: true });
  const { token } = await aPerson(service, 'ada');
  const berth = new Berth({ server: `http://${line.host}`, token });
  const near = new Berth({ server: address.origin, token });
  return { berth, near, dev: await berth.create({ name: 'dev', ...SMALL }), line };
}

const refusal = async (call: Promise<unknown>): Promise<BerthError> =>
  await call.then(
    () => Promise.reject(new Error('it was not refused')),
    (failure) => failure,
  );

t.test('a command has its input, its output as it comes, and its exit code', async (t) => {
  const { dev } = await aScene(t);
  const pieces: string[] = [];
  const onStdout = (text: string) => pieces.push(text);
  const result = await dev.run(['cat'], { stdin: 'from far away\n', onStdout });
  t.same(result, { exitCode: 0, stdout: 'from far away\n', stderr: '', truncated: false });
  t.equal(pieces.join(''), 'from far away\n');
  t.match(await dev.run(['cat'], { stdin: '12345', maxOutputCharacters: 3 }), {
    stdout: '123',
    truncated: true,
  });
  const failed = await refusal(dev.run(['false'], { check: true }));
  t.type(failed, CommandError);
  t.match(failed, { message: 'false ended with exit code 1', result: { exitCode: 1 } });
});

t.test('a command that is aborted ends; one whose line breaks has an unknown outcome', async (t) => {
  const { ports, atWork } = endless();
  const { dev, line } = await aScene(t, ports);
  const abort = new AbortController();
  const onStdout = (): void => abort.abort(new Error('enough'));
  t.match(await refusal(dev.run('tail -f', { signal: abort.signal, onStdout })), { message: 'enough' });
  await waitFor(() => atWork() === 0);
  const broken = dev.run('tail -f', { onStdout: () => line.begin() });
  t.match(await refusal(broken), { status: 0, code: 'command_outcome_unknown' });
});

t.test('logs are followed until the loop is left', async (t) => {
  const { ports, atWork } = endless();
  const { dev } = await aScene(t, ports);
  let text = '';
  for await (const piece of dev.logs({ follow: true, tail: 5 })) {
    text += piece;
    if (text.length > 10) break;
  }
  t.match(text, /^tick\ntick\n/);
  await waitFor(() => atWork() === 0);
});

t.test('a file that is opened and read later has its content after a garbage collection', async (t) => {
  const { near } = await aScene(t);
  const dev = await near.container('dev');
  await dev.files.write('later.txt', 'kept');
  const { content } = await dev.files.open('later.txt');
  const archive = await dev.files.archive('.');
  await collectGarbage();
  t.equal(await new Response(content).text(), 'kept');
  t.ok((await new Response(archive).arrayBuffer()).byteLength > 0);
});

t.test('files are written, read, listed and removed', async (t) => {
  const { files } = (await aScene(t)).dev;
  t.match(await files.write('a.txt', 'hello'), { path: '/workspace/a.txt', size: 5, created: true });
  t.equal(await files.read('a.txt'), 'hello');
  const bytes = new Uint8Array(300_000).map((_, at) => at % 251);
  await files.write('deep/b.bin', new Blob([bytes]).stream());
  t.same(await files.read('deep/b.bin', { format: 'bytes' }), bytes);
  let size = 0;
  for await (const piece of await files.read('deep/b.bin', { format: 'stream' })) size += piece.length;
  t.equal(size, bytes.length);
  const { entries } = await files.list();
  t.same(
    entries.map(({ name, type }) => [name, type]),
    [
      ['a.txt', 'file'],
      ['deep', 'folder'],
    ],
  );
  t.match(await refusal(files.read('deep')), { code: 'is_a_folder' });
  t.match(await refusal(files.archive('a.txt')), { code: 'not_a_folder' });
  await (await files.archive('deep')).cancel();
  await files.remove('deep');
  t.match(await refusal(files.read('deep/b.bin')), { status: 404 });
});

t.test('events come without gap or repeat over a line that is cut all the time', async (t) => {
  const { berth, near, dev, line } = await aScene(t);
  const events = berth.events({ backoff: BACKOFF });
  await events.connected;
  line.begin();
  t.same(
    (await events.next()).value,
    { type: 'resync' },
    'nothing is known of the time before the first event',
  );
  line.calm();
  const changes = 20;
  const wanted = Array.from({ length: changes }, (_, n) => `name-${n}`);
  await near.containers.update(dev.id, { name: 'first' });
  await events.next();
  const change = async (): Promise<void> => {
    for (const [n, name] of wanted.entries()) {
      const cuts = line.cuts();
      await near.containers.update(dev.id, { name });
      // The line is cut between changes, however fast they are.
      if (n % 5 === 0) await waitFor(() => line.cuts() > cuts);
    }
  };
  line.begin();
  const before = line.cuts();
  const changed = change();
  const names: string[] = [];
  let last = '';
  for await (const event of events) {
    if (event.type === 'resync') throw new Error('events were lost');
    names.push(event.data.name ?? '');
    last = event.id;
    if (names.length === changes) break;
  }
  await changed;
  line.calm();
  t.same(names, wanted);
  t.ok(line.cuts() > before);
  await near.containers.stop(dev.id);
  const later = berth.events({ after: last });
  const { value } = await later.next();
  await later.return?.();
  t.match(value, { type: 'container_stopped', data: { db_id: dev.id } });
});

t.test('events that are left before they are connected open no connection', async (t) => {
  const service = await aService();
  const server = await serverOf(t, service);
  const { token } = await aPerson(service, 'ada');
  let opened = 0;
  const openSocket = async () => {
    const open = await bestSocket();
    return (...given: Parameters<typeof open>) => {
      opened += 1;
      return open(...given);
    };
  };
  const berth = new Berth({ server, token, openSocket });
  await berth.events().return?.();
  const others = berth.events();
  await others.connected;
  await others.return?.();
  t.equal(opened, 1);
});

t.test('what is aborted before it has begun does not begin', async (t) => {
  const service = await aService({ terminalBackend: fakeTerminals() });
  const server = await serverOf(t, service);
  const { token } = await aPerson(service, 'ada');
  await new Berth({ server, token }).create({ name: 'dev', ...SMALL });
  for (const begin of [
    (box: Container, signal: AbortSignal) => box.files.watch('.', { signal }),
    (box: Container, signal: AbortSignal) => box.terminal({ size: { cols: 90, rows: 30 }, signal }),
  ]) {
    const abort = new AbortController();
    let isAsked = false;
    const source = () => {
      if (isAsked) abort.abort(new Error('enough'));
      return token;
    };
    const box = await new Berth({ server, token: source }).container('dev');
    isAsked = true;
    t.match(await refusal(begin(box, abort.signal)), { message: 'enough' });
  }
});

t.test('events end with an error when the token is refused or the caller aborts', async (t) => {
  const { berth } = await aScene(t);
  const stranger = new Berth({ server: berth.server, token: 'svc_x' });
  const refused = stranger.events();
  t.match(await refusal(refused.next()), { status: 401 });
  t.match(await refusal(refused.connected), { status: 401 });
  const abort = new AbortController();
  const events = berth.events({ signal: abort.signal });
  await events.connected;
  abort.abort(new Error('enough'));
  t.match(await refusal(events.next()), { message: 'enough' });
});

async function aTerminal(t: Test, { isNear = false } = {}) {
  const terminals = fakeTerminals();
  const scene = await aScene(t, { terminalBackend: terminals });
  const dev = isNear ? await scene.near.container('dev') : scene.dev;
  const terminal = await dev.terminal({ size: { cols: 90, rows: 30 }, backoff: BACKOFF });
  t.teardown(() => terminal.close());
  return { ...scene, terminals, terminal, pty: terminals.opened[0] as FakePty };
}

t.test('a terminal over a line that is cut all the time loses and repeats nothing', async (t) => {
  const { terminal, pty, line } = await aTerminal(t);
  const lines = Array.from({ length: 40_000 }, (_, n) => `line ${n} of the output\r\n`).join('');
  const keys = Array.from({ length: 5_000 }, (_, n) => `key ${n};`).join('');
  line.begin();
  terminal.write(keys);
  for (let at = 0; at < lines.length; at += 4_096) pty.say(lines.slice(at, at + 4_096));
  t.ok((await terminal.until('line 39999 of the output\r\n')) === lines);
  await waitFor(() => pty.typed() === keys);
  t.ok(line.cuts() > 3, `${line.cuts()} cuts`);
  line.calm();
  pty.end();
  t.same(await terminal.closed, { why: 'ended', exitCode: 0 });
});

t.test('a loop that takes nothing makes the program wait, and then gets every byte', async (t) => {
  const { terminal, pty } = await aTerminal(t, { isNear: true });
  const piece = 'x'.repeat(65_536);
  const pieces = 120;
  for (let n = 0; n < pieces; n += 1) pty.say(piece);
  pty.say('END');
  const left = (): number => pty.stream.readableLength;
  let before = -1;
  const waits = await eventually(
    () => {
      const still = left() === before && before < pieces * piece.length;
      before = left();
      return still;
    },
    Boolean,
    { everyMs: 500 },
  );
  t.ok(waits && left() > 1_000_000, `${left()} bytes are left in the program`);
  t.equal((await terminal.until('END')).length, pieces * piece.length + 3);
});

t.test('a terminal that is left can be opened again, and ends when it is closed', async (t) => {
  const { dev, terminal, terminals } = await aTerminal(t);
  terminal.detach();
  t.same(await terminal.closed, { why: 'detached', exitCode: null });
  const again = await dev.terminal();
  terminals.opened.at(-1)?.say('still here');
  await again.until('still here');
  again.close();
  await waitFor(() => terminals.opened.every(({ stream }) => stream.destroyed));
});

/** As another process gets it. */
const kept = (point: TerminalResume | null): TerminalResume => JSON.parse(JSON.stringify(point));

t.test('a terminal that is left continues to the byte in another process', async (t) => {
  const { dev, near, terminal, pty, line, terminals } = await aTerminal(t);
  terminal.write('first ');
  pty.say('one two');
  t.equal(await terminal.until('one'), 'one');
  terminal.write('sent, perhaps unconfirmed ');
  const point = kept(terminal.detach());
  let rest = '';
  for await (const bytes of terminal) rest += Buffer.from(bytes).toString();
  t.equal(rest, ' two', 'what has arrived is still given');
  pty.say(' three');
  const second = await dev.terminal({ resume: point, backoff: BACKOFF });
  t.equal(await second.until('three'), ' three');
  line.begin();
  await waitFor(() => second.state.kind !== 'open');
  second.write('typed on a lost line ');
  const later = kept(second.detach());
  line.calm();
  const third = await (await near.container('dev')).terminal({ resume: later, onEmptyScreen: true });
  const screen = await third.until('three');
  t.ok(screen.startsWith('\x1bc') && screen.includes('one two three'), 'the screen is sent again');
  third.write('last');
  await waitFor(() => pty.typed().endsWith('last'));
  t.equal(pty.typed(), 'first sent, perhaps unconfirmed typed on a lost line last');
  t.equal(terminals.opened.length, 1, 'by the same program');
  third.close();
});

t.test('a refused terminal says why', async (t) => {
  const { dev } = await aTerminal(t);
  await dev.stop();
  t.match(await refusal(dev.terminal()), { status: 409, code: 'container_not_running' });
  await dev.delete();
  t.match(await refusal(dev.terminal()), { status: 404 });
  const nowhere = new Berth({ server: 'http://127.0.0.1:1', token: 'x' });
  t.match(await refusal(nowhere.events().next()), { status: 0, code: 'unreachable' });
});
