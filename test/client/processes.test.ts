import t, { type Test } from 'tap';
import { RECONNECT } from '../../src/client/backoff.ts';
import { Berth } from '../../src/client/index.ts';
import { AttachedProcess } from '../../src/client/processes/attached-process.ts';
import type { Requester } from '../../src/client/request/requester.ts';
import type { OpenSocket } from '../../src/client/socket/socket.ts';
import { waitFor } from '../support/patience.ts';
import { answerLosingProxy } from '../support/process/answer-losing-proxy.ts';
import { lineToService } from '../support/process/lines.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

const LOST = 1006;

async function aScene(t: Test) {
  const service = await aService();
  const server = await serverOf(t, service);
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const berth = new Berth({ server, token });
  const box = await berth.create({ name: 'dev', memory_mb: 256 });
  const through = async (origin: string) => await new Berth({ server: origin, token }).container('dev');
  return { server, token, box, through };
}

t.test('a process is started, fed, waited for and found again', async (t) => {
  const { box } = await aScene(t);
  const cat = await box.processes.start(['cat'], { name: 'copy', stdin: true });
  t.match(cat.info, { name: 'copy', status: 'running' });
  await Promise.all([cat.write('getting '), cat.write('ready\nand m')]);
  t.equal((await cat.output.until(/rea(dy)/))[1], 'dy');
  t.equal((await cat.output.until('and m')).index, 14);
  const again = await box.processes.get('copy');
  await again.write(Buffer.from('ore'));
  await again.closeInput();
  t.match(await again.wait(), { exitCode: 0, signal: null, status: 'ended', endedBy: 'exit' });
  t.match(await cat.wait(), { exitCode: 0 }, 'also afterwards');
  let text = '';
  for await (const piece of cat.output) text += piece.text;
  t.equal(text, 'getting ready\nand more');
  await t.rejects(cat.output.until('nothing'), { code: 'process_ended' });
  await t.rejects(cat.write('late'), { code: 'process_ended' });
  await t.rejects(box.processes.get('web'), { code: 'process_not_found' });
  const sleep = await box.processes.start(['sleep', '3600']);
  const waiting = sleep.wait();
  await sleep.signal('INT');
  t.match(await waiting, { exitCode: 130, signal: 'INT' });
  const other = await box.processes.start(['sleep', '3600']);
  t.match(await other.kill(), { ended_by: 'signal' });
  t.match(
    (await box.processes.list()).map(({ id }) => id),
    [other.id, sleep.id, cat.id],
  );
});

t.test('lost answers start nothing twice, and no input is taken twice', async (t) => {
  const { server, box, through } = await aScene(t);
  const line = await answerLosingProxy(t, server);
  const far = await through(line.origin);
  line.lose(2);
  const cat = await far.processes.start(['cat'], { stdin: true });
  t.equal((await box.processes.list()).length, 1);
  const text = 'x'.repeat(1_500_000);
  line.lose(2);
  await cat.write(text);
  line.lose(1);
  await cat.write('end');
  await cat.closeInput();
  t.equal(line.lost(), 5);
  await cat.wait();
  t.equal((await cat.refresh()).output?.stdout.bytes, text.length + 3);
});

t.test('an attachment continues both ways after lost lines', async (t) => {
  const { server, box, through } = await aScene(t);
  const line = await lineToService(t, server);
  const cat = await box.processes.start(['cat'], { stdin: true });
  const far = await (await through(`http://${line.host}`)).processes.get(cat.id);
  const attached = await far.attach();
  let read = '';
  const reading = (async () => {
    for await (const { text, offset } of attached) {
      t.equal(offset, read.length);
      read += text;
    }
  })();
  const sent = Array.from({ length: 6 }, (_, at) => `${at} ${'x'.repeat(at * 20_000)}\n`);
  for (const [at, text] of sent.entries()) {
    const all = sent.slice(0, at + 1).join('');
    attached.write(text);
    if (text.length > 50_000) line.hangUp();
    await waitFor(() => read === all, { what: 'the echo' });
    line.hangUp();
  }
  attached.closeInput();
  await reading;
  t.ok(read === sent.join(''), 'every byte once');
  t.match(await attached.closed, { exitCode: 0, endedBy: 'exit' });
  const again = await far.attach({ after: { stdout: read.length - 3, stderr: 0 } });
  const { value } = await again[Symbol.asyncIterator]().next();
  t.match(value, { offset: read.length - 3 });
  const sleep = await box.processes.start(['sleep', '3600'], { pty: { cols: 80, rows: 24 } });
  const left = await sleep.attach();
  left.detach();
  t.equal(await left.closed, null);
  const controlled = await sleep.attach({ size: { cols: 120, rows: 50 } });
  await waitFor(async () => (await sleep.refresh()).pty?.cols === 120, { what: 'the size of this end' });
  controlled.signal('TERM');
  t.match(await controlled.closed, { exitCode: 143, signal: 'TERM' });
  await t.rejects((await cat.attach({ after: { stdout: 10 ** 9, stderr: 0 } })).closed, {
    code: 'validation_failed',
  });
});

t.test('what was written before a detach arrives', async (t) => {
  const { box } = await aScene(t);
  const cat = await box.processes.start(['cat'], { stdin: true });
  const first = await cat.attach();
  first.write('typed at once, ');
  first.detach();
  first.write('and too late');
  t.equal(await first.closed, null);
  const second = await cat.attach();
  second.write('to the end');
  second.closeInput();
  second.detach();
  await second.closed;
  await cat.wait();
  let read = '';
  for await (const { text } of cat.output) read += text;
  t.equal(read, 'typed at once, to the end');
});

t.test('output continues at the byte after a lost connection', async (t) => {
  const { server, box, through } = await aScene(t);
  const line = await lineToService(t, server);
  const far = await through(`http://${line.host}`);
  const cat = await box.processes.start(['cat'], { stdin: true });
  const followed = await far.processes.get(cat.id);
  const sent = Array.from({ length: 9 }, (_, at) => `line ${at} grüße 🚢\n`);
  let read = '';
  const reading = (async () => {
    for await (const { text, offset } of followed.output) {
      t.equal(offset, Buffer.byteLength(read));
      read += text;
    }
  })();
  for (const text of sent) {
    await cat.write(text);
    await followed.output.until(text).catch(() => cat.output.until(text));
    line.hangUp();
  }
  await cat.closeInput();
  await reading;
  t.equal(read, sent.join(''));
});

t.test('an attachment that its client leaves at a loss does not connect again', async (t) => {
  let tries = 0;
  const token = async (): Promise<string> => {
    tries += 1;
    throw new Error('no token without the service');
  };
  const open = () => t.fail('no socket without a token') as never;
  const onLost = (): void => attached.detach();
  const attached = new AttachedProcess({ token } as unknown as Requester, open, '/process', { onLost });
  t.equal(await attached.closed, null);
  await new Promise((resolve) => setTimeout(resolve, RECONNECT.firstMs + 50));
  t.equal(tries, 1);
});

t.test('a service that counts input which was not sent fails the attachment', async (t) => {
  let lines = 0;
  const open: OpenSocket = (_url, _protocols, listener) => {
    lines += 1;
    const input_offset = lines === 1 ? 0 : 9;
    const frame = { type: 'ready', stdout: 0, stderr: 0, input_offset };
    setImmediate(() => {
      listener.text(JSON.stringify(frame));
      if (lines === 1) listener.closed(LOST, '', true);
    });
    return { send: () => {}, drop: () => {}, unsentBytes: () => 0 };
  };
  const requester = { token: async () => 'jwt', webSocketOrigin: 'ws://x', send: async () => {} };
  const attached = new AttachedProcess(requester as unknown as Requester, open, '/process');
  const gap = { code: 'process_input_gap', message: /counts more/ };
  await t.rejects(attached.closed, gap);
  await t.rejects(attached[Symbol.asyncIterator]().next(), gap);
  t.equal(lines, 2);
});
