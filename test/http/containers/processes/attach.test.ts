import t, { type Test } from 'tap';
import { memoryProcesses } from '../../../../src/adapters/memory/containers/processes/container-processes.ts';
import { memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import {
  decodeProcessServerFrame,
  type ProcessServerFrame,
} from '../../../../src/protocol/process-frames.ts';
import { waitFor } from '../../../support/patience.ts';
import { aBoxOfAda } from '../../../support/service/cluster.ts';
import { aPerson, as } from '../../../support/service/service.ts';
import { aSocket } from '../../../support/service/sockets.ts';
import { listening } from '../../../support/terminal/terminals.ts';

async function aScene(t: Test, ports: Parameters<typeof aBoxOfAda>[0] = {}) {
  const scene = await aBoxOfAda(ports);
  const url = `${scene.url}/processes`;
  const address = await listening(t, scene.service);
  const start = async (body: object): Promise<string> => (await scene.call('POST', url, body)).json().id;
  const attach = (id: string, query = '', { token } = scene.ada) =>
    anAttachment(`${address}${url}/${id}/attach?${query}`, token);
  return { ...scene, url, start, attach };
}

const AS_BYTES = { 'content-type': 'application/octet-stream' };

/** A socket that is attached, and what came over it. */
async function anAttachment(address: string, token: string) {
  const line = aSocket(address, 'berth.process.v1', token);
  const frames: ProcessServerFrame[] = [];
  const output = { stdout: '', stderr: '' };
  line.socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) output[data[0] === 2 ? 'stderr' : 'stdout'] += data.subarray(1);
    else frames.push(decodeProcessServerFrame(String(data)) as ProcessServerFrame);
  });
  await waitFor(() => line.end() !== null || frames.length > 0, { what: 'the socket is open or refused' });
  const until = async (what: string, holds: () => boolean) => await waitFor(holds, { what });
  return { ...line, frames, output, until };
}

t.test('output comes from an offset, input is taken once, and the end is reported', async (t) => {
  const { start, attach } = await aScene(t);
  const id = await start({ command: ['cat'], pty: { cols: 80, rows: 24 } });
  const first = await attach(id);
  t.same(first.frames, [{ type: 'ready', stdout: 0, stderr: 0, input_offset: 0 }]);
  first.socket.send(Buffer.from('one\n'));
  await first.until('echo and output', () => first.output.stdout === 'one\r\none\r\n');
  await first.until('the acknowledgement', () => first.frames.length === 2);
  t.same(first.frames.at(-1), { type: 'ack', input_offset: 4 });
  first.socket.terminate();
  const second = await attach(id, 'after=5');
  t.same(second.frames, [{ type: 'ready', stdout: 5, stderr: 0, input_offset: 4 }]);
  await second.until('the rest of the output', () => second.output.stdout === 'one\r\n');
  second.send({ type: 'input_from', offset: 0 });
  second.socket.send(Buffer.from('one\n'));
  second.socket.send(Buffer.from('two\n'));
  await second.until('only the new input', () => second.output.stdout === 'one\r\ntwo\r\ntwo\r\n');
  second.send({ type: 'ping', t: 7 });
  await second.until('the answer', () => second.frames.some(({ type }) => type === 'pong'));
  second.send({ type: 'eof' });
  t.same(await second.closed(), [1000, 'ended']);
  t.same(second.frames.at(-1), { type: 'exit', exit_code: 0, signal: null, ended_by: 'exit' });
  const late = await attach(id, 'after=9999');
  t.equal(await late.closed(), 400, 'there is not as much');
  const after = await attach(id, 'after=10');
  t.same(await after.closed(), [1000, 'ended']);
  t.equal(after.output.stdout, 'two\r\ntwo\r\n', 'all that is left of a process that has ended');
});

t.test('of several clients that type, each is heard whole, also after a lost line', async (t) => {
  const { call, url, start, attach } = await aScene(t);
  const id = await start({ command: ['cat'], stdin: true });
  const name = (of: string): string => `writer=${of.repeat(16)}`;
  const [ada, bob] = [await attach(id, name('a')), await attach(id, name('b'))];
  const typed = (who: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${who}${String(n).padStart(3, '0')} `);
  const [ofAda, ofBob] = [typed('a', 40), typed('b', 40)];
  for (const [n, text] of ofAda.entries()) {
    ada.socket.send(Buffer.from(text));
    bob.socket.send(Buffer.from(ofBob[n] ?? ''));
    if (n % 10 === 0) await call('POST', `${url}/${id}/input`, Buffer.from('posted '), AS_BYTES);
  }
  const all = [...ofAda, ...ofBob, 'posted '];
  await ada.until('all that was typed', () => all.every((text) => ada.output.stdout.includes(text)));
  t.equal(ada.output.stdout.length, 80 * 5 + 4 * 'posted '.length, 'nothing twice');
  ada.socket.terminate();
  bob.socket.send(Buffer.from('while she is away '));
  await bob.until('his words', () => bob.output.stdout.endsWith('away '));
  const back = await attach(id, `after=${bob.output.stdout.length}&${name('a')}`);
  t.match(back.frames, [{ type: 'ready', input_offset: 200 }], 'what she has typed herself');
  back.send({ type: 'input_from', offset: 195 });
  back.socket.send(Buffer.from('a039 back'));
  await back.until('only what is new', () => back.output.stdout === 'back');
});

t.test('sizes, signals, and what a process does not take', async (t) => {
  const { call, url, start, attach } = await aScene(t);
  const id = await start({ command: ['sleep', '3600'], pty: { cols: 80, rows: 24 } });
  const attached = await attach(id);
  for (const cols of [90, 100, 110]) attached.send({ type: 'resize', cols, rows: 40 });
  const size = async () => (await call('GET', `${url}/${id}`)).json().pty;
  await waitFor(async () => (await size()).cols === 110, { what: 'the newest size' });
  for (const wrong of [
    { type: 'resize', cols: 0, rows: 1 },
    { type: 'signal', signal: 'X' },
    { type: 'fly' },
  ])
    attached.send(wrong);
  attached.socket.send('no JSON');
  attached.send({ type: 'signal', signal: 'INT' });
  t.same(await attached.closed(), [1000, 'ended']);
  t.match(attached.frames.at(-1), { type: 'exit', exit_code: 130, signal: 'INT', ended_by: 'signal' });
  const deaf = await attach(await start({ command: ['sleep', '3600'] }));
  t.match(deaf.frames, [{ type: 'ready', input_offset: null }]);
  deaf.socket.send(Buffer.from('x'));
  deaf.send({ type: 'resize', cols: 80, rows: 24 });
  await deaf.until('two refusals', () => deaf.frames.length === 3);
  const refused = deaf.frames.flatMap((frame) => (frame.type === 'refused' ? [frame.code] : []));
  t.same(refused.sort(), ['process_without_input', 'process_without_terminal']);
  deaf.send({ type: 'input_from', offset: 9 });
  t.same(await deaf.closed(), [1008, 'input gap']);
});

t.test('who may not is refused before the upgrade, and closed when the right ends', async (t) => {
  const { service, ada, call, url, start, attach } = await aScene(t);
  const id = await start({ command: ['cat'], stdin: true });
  const eve = await aPerson(service, 'eve');
  t.equal(await (await attach(id, '', eve)).closed(), 404);
  t.equal(await (await attach(id, '', { ...ada, token: 'svc_wrong' })).closed(), 401);
  const reader = await as(service, ada)('POST', '/api/tokens', { name: 'reader', scopes: ['read'] });
  t.equal(await (await attach(id, '', reader.json())).closed(), 403);
  t.equal((await call('GET', `${url}/${id}/attach`)).statusCode, 426);
  const attached = await attach(id);
  await as(service, ada)('POST', '/api/auth/logout');
  t.same(await attached.closed(), [4001, 'unauthorized']);
});

t.test('what a client sent before it left is taken, but not after the end of its right', async (t) => {
  for (const leaves of [true, false]) {
    const runtime = memoryRuntime();
    const processes = memoryProcesses(runtime);
    let waiting = 0;
    const free = Promise.withResolvers<void>();
    const slow: typeof processes.write = async (handle, id, input) => {
      if (input.data.length > 0) {
        waiting += 1;
        await free.promise;
      }
      return await processes.write(handle, id, input);
    };
    const scene = await aScene(t, { runtime, processes: { ...processes, write: slow } });
    const { service, ada, start, attach } = scene;
    const id = await start({ command: ['cat'], stdin: true });
    const reader = await attach(
      id,
      '',
      (await as(service, ada)('POST', '/api/tokens', { name: 'ci' })).json(),
    );
    const attached = await attach(id);
    attached.socket.send(Buffer.from('one '));
    await waitFor(() => waiting === 1, { what: 'the first input' });
    attached.socket.send(Buffer.from('two'));
    attached.send({ type: 'eof' });
    if (leaves) attached.socket.close();
    else await as(service, ada)('POST', '/api/auth/logout');
    await attached.closed();
    free.resolve();
    if (!leaves) {
      await reader.until('the first input', () => reader.output.stdout === 'one ');
      reader.send({ type: 'eof' });
    }
    t.same(await reader.closed(), [1000, 'ended']);
    t.equal(reader.output.stdout, leaves ? 'one two' : 'one ');
  }
});
