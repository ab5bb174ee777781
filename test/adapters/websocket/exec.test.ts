import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { ExecCommand } from '../../../src/adapters/websocket/exec/exec-command.ts';
import { ExecInput } from '../../../src/adapters/websocket/exec/exec-input.ts';
import { ExecOutput, KEPT_BYTES } from '../../../src/adapters/websocket/exec/exec-output.ts';
import { ExecRuns, MAX_WAITING } from '../../../src/adapters/websocket/exec/exec-runs.ts';
import type { AuthorizedConnection } from '../../../src/app/identity/auth/authorized-connections.ts';
import { ExecInput as ClientInput } from '../../../src/client/inside/exec-input.ts';
import { Queue } from '../../../src/client/queue.ts';
import type { Caller } from '../../../src/domain/identity/caller.ts';
import { waitFor } from '../../support/patience.ts';

/** Input whose client has the whole window. */
function anInput() {
  const given: number[] = [];
  const input = new ExecInput((bytes) => given.push(bytes));
  input.begin();
  return { input, given: () => given.reduce((sum, bytes) => sum + bytes, 0) };
}

t.test('frames that a program does not take are joined, and empty ones dropped', async (t) => {
  for (const bytes of [0, 1]) {
    const { input } = anInput();
    const { write } = input.stream;
    const writes = t.capture(input.stream, 'write', write.bind(input.stream) as typeof write);
    input.take(Buffer.alloc(140_000));
    for (let count = 0; count < 50_000; count += 1) input.take(Buffer.alloc(bytes));
    await turn();
    t.equal(writes().length, 1, 'the first waits for the program, and the others for it');
    input.end();
    t.equal((await text(input.stream)).length, 140_000 + 50_000 * bytes);
    t.ok(writes().length < 10);
  }
});

t.test('small and large frames arrive in order, and all of their room is given again', async (t) => {
  const { input, given } = anInput();
  const sent: string[] = [];
  const got = text(input.stream);
  for (let count = 0; count < 3_000; count += 1) {
    const piece = String.fromCharCode(97 + (count % 26)).repeat(count % 50 === 0 ? 5_000 : count % 3);
    for (;;) {
      if (input.take(Buffer.from(piece))) break;
      await turn();
    }
    sent.push(piece);
  }
  input.end();
  input.take(Buffer.from('late'));
  t.equal(await got, sent.join(''));
  t.ok(given() > sent.join('').length);
});

const STREAMS = ['stdout', 'stderr'] as const;
/** Of the processor's time: far less than it takes when each piece moves all that follow. */
const AT_MOST_MS = 3_000;

/** All that can be sent, as one text in which stderr is in upper case. */
function sentOf(output: ExecOutput): string {
  const parts: string[] = [];
  for (let piece = output.take(); piece !== null; piece = output.take()) {
    const text = piece.data.toString();
    parts.push(piece.stream === 'stderr' ? text.toUpperCase() : text);
  }
  return parts.join('');
}

t.test('output keeps its order over both streams, within the room', async (t) => {
  for (const isKept of [true, false]) {
    const output = new ExecOutput(isKept);
    const added: string[] = [];
    for (let count = 0; count < 400; count += 1) {
      const text = String.fromCharCode(97 + (count % 26)).repeat(count * 5);
      const stream = STREAMS[Math.floor(count / 3) % 2] ?? 'stdout';
      output.add(stream, Buffer.from(text));
      added.push(stream === 'stderr' ? text.toUpperCase() : text);
    }
    const all = added.join('');
    t.equal(output.take(), null, 'without room, nothing');
    output.allow(100_001);
    t.ok(sentOf(output) === all.slice(0, 100_001));
    t.notOk(output.isSent);
    output.allow(all.length);
    t.ok(sentOf(output) === all.slice(100_001));
    t.ok(output.isSent);
    t.equal(output.resumeAt(100_000), isKept);
    t.equal(output.resumeAt(all.length + 1), false);
    if (!isKept) continue;
    output.allow(all.length);
    t.ok(sentOf(output) === all.slice(100_000), 'again, from what its client has');
    output.confirm(150_000);
    t.equal(output.resumeAt(149_999), false);
    t.ok(output.resumeAt(150_000));
  }
});

t.test('no more is sent than is kept', async (t) => {
  const output = new ExecOutput(true);
  output.add('stdout', Buffer.alloc(KEPT_BYTES + 10, 'x'));
  output.allow(KEPT_BYTES * 2);
  t.equal(sentOf(output).length, KEPT_BYTES);
  output.confirm(4);
  t.equal(sentOf(output).length, 4);
  output.confirm(KEPT_BYTES * 9);
  t.equal(sentOf(output).length, 6, 'what was never sent is not confirmed');
});

t.test('a million pieces of a byte cost no more than their bytes', async (t) => {
  const began = process.cpuUsage();
  const output = new ExecOutput(true);
  output.allow(KEPT_BYTES);
  const bytes = [Buffer.from('a'), Buffer.from('b')] as const;
  for (let count = 0; count < KEPT_BYTES / 2; count += 1) {
    output.add('stdout', bytes[0]);
    output.take();
    output.add('stderr', bytes[1]);
    output.take();
  }
  output.confirm(KEPT_BYTES);
  t.ok(process.cpuUsage(began).user / 1_000 < AT_MOST_MS);
});

t.test('nor does input that its client has typed, or output that waits for its loop', async (t) => {
  const began = process.cpuUsage();
  const input = new ClientInput();
  for (let count = 0; count < 200_000; count += 1) input.sent(Uint8Array.of(count % 256));
  input.addRoom(0, 100_000);
  t.same(input.sendAgain(199_999), [Uint8Array.of(199_999 % 256)]);
  const queue = new Queue<number>();
  for (let count = 0; count < 300_000; count += 1) queue.push(count);
  queue.end();
  let sum = 0;
  for await (const value of queue) sum += value;
  t.equal(sum, (300_000 * 299_999) / 2);
  t.ok(process.cpuUsage(began).user / 1_000 < AT_MOST_MS);
});

const callerOf = (id: string): Caller => ({ user: { id } }) as Caller;

function aScene(resumeWithinMs: number) {
  const registered = new Set<AuthorizedConnection>();
  const live = {
    register(connection: AuthorizedConnection) {
      registered.add(connection);
      return { use: () => true, end: () => void registered.delete(connection) };
    },
  };
  const runs = new ExecRuns({ live, mayStay: () => true, resumeWithinMs });
  const ended: string[] = [];
  const answered: string[] = [];
  const lose = (name: string, user = 'ada'): ExecCommand => {
    const command = {
      end: () => ended.push(name),
      lose: () => answered.push(name),
    } as unknown as ExecCommand;
    runs.add(name, command);
    runs.wait(name, command, callerOf(user));
    return command;
  };
  return { runs, registered, ended, answered, lose };
}

t.test('a command waits until its time is over, or until its client returns', async (t) => {
  const { runs, registered, ended, lose } = aScene(50);
  const one = lose('one');
  t.equal(runs.find('one'), one);
  t.equal(registered.size, 0, 'its socket is checked, not the wait');
  lose('two');
  await waitFor(() => ended.includes('two'), { what: 'the time is over' });
  t.same([runs.find('two'), registered.size, ended], [null, 0, ['two']]);
});

t.test('a user has only so many that wait', async (t) => {
  const { runs, ended, answered, lose } = aScene(60_000);
  for (let n = 0; n <= MAX_WAITING; n += 1) lose(`ada ${n}`);
  t.same(ended, [`ada ${MAX_WAITING}`]);
  lose('bob 0', 'bob');
  t.ok(runs.find('bob 0'), "others' do not count");
  runs.shut();
  lose('late', 'bob');
  t.same(answered.length, MAX_WAITING + 1, 'the client of each is answered');
  t.same(new Set(ended).size, MAX_WAITING + 3, 'a service that stops ends all commands, and keeps no more');
});

t.test('a credential that ends takes its waiting command along', async (t) => {
  const { registered, ended, lose } = aScene(60_000);
  lose('one');
  for (const { close } of registered) close();
  t.same([ended, registered.size], [['one'], 0]);
});
