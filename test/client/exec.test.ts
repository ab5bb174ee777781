import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { memoryCommands } from '../../src/adapters/memory/containers/inside/container-commands.ts';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { Ports } from '../../src/app/main/compose-options.ts';
import { Berth, type RunningCommand } from '../../src/client/index.ts';
import { platformSocket } from '../../src/client/socket/socket.ts';
import { waitFor } from '../support/patience.ts';
import { lineToService } from '../support/process/lines.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { endless } from '../support/service/streams.ts';
import { serverOf } from '../support/terminal/terminals.ts';

async function aScene(t: Test, ports: Partial<Ports> = {}) {
  const service = await aService(ports);
  const server = await serverOf(t, service);
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const box = await new Berth({ server, token }).create({ name: 'dev' });
  return { service, server, token, box };
}

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function outputOf(running: RunningCommand) {
  const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  for await (const { stream, bytes } of running) output[stream].push(bytes);
  const [stdout, stderr] = [Buffer.concat(output.stdout), Buffer.concat(output.stderr)];
  return { stdout, stderr, exitCode: await running.exitCode };
}

for (const [name, socket] of [
  ['ws', {}],
  ['the platform', { openSocket: async () => platformSocket }],
] as const) {
  t.test(`input and output pass as bytes, by the socket of ${name}`, async (t) => {
    const { server, token } = await aScene(t);
    const box = await new Berth({ server, token, ...socket }).container('dev');
    const bytes = randomBytes(3_000_000);
    const cat = await box.exec(['cat'], { stdin: true });
    const output = outputOf(cat);
    await cat.write(bytes);
    await cat.write('end');
    await cat.closeInput();
    const { stdout, stderr, exitCode } = await output;
    t.equal(hash(stdout), hash(Buffer.concat([bytes, Buffer.from('end')])));
    t.same([stderr.length, exitCode], [0, 0]);
    await cat.write('late');
  });
}

t.test('output comes while the input is open, and a loop that is left ends the command', async (t) => {
  const { box } = await aScene(t);
  const cat = await box.exec(['cat'], { stdin: true });
  await cat.write('one');
  for await (const { bytes } of cat) {
    t.equal(Buffer.from(bytes).toString(), 'one');
    break;
  }
  await t.rejects(cat.exitCode, { code: 'command_ended' });
});

t.test('options are passed on, and refusals are errors', async (t) => {
  const { box } = await aScene(t);
  t.match(await outputOf(await box.exec(['nope'])), { exitCode: 127 });
  const late = await box.exec(['sleep', '9'], { timeoutSeconds: 1 });
  t.equal((await outputOf(late)).exitCode, null);
  const variable = await outputOf(await box.exec(['printenv', 'A'], { env: { A: 'x' } }));
  t.equal(variable.stdout.toString(), 'x\n');
  const terminal = { cols: 90, rows: 20 };
  const sized = await box.exec('read line; stty size', { stdin: true, terminal });
  sized.resize({ cols: 100, rows: 30 });
  await sized.write('\n');
  t.equal((await outputOf(sized)).stdout.toString(), '30 100\r\n');
  await t.rejects(box.exec([]), { code: 'validation_failed', fields: { command: String } });
  await box.stop();
  await t.rejects(box.exec(['true']), { status: 409, code: 'container_not_running' });
});

t.test('a slow loop slows the command', async (t) => {
  const { box } = await aScene(t);
  const zeros = await box.exec(['head', '-c', '5000000', '/dev/zero']);
  let taken = 0;
  for await (const { bytes } of zeros) {
    taken += bytes.length;
    if (taken < 200_000) await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(taken, 5_000_000);
});

t.test('a command goes on over a lost line: no byte is missing or repeated, and it runs once', async (t) => {
  let starts = 0;
  const runtime = memoryRuntime();
  const commands = memoryCommands(runtime);
  const open: typeof commands.open = (handle, request) => {
    starts += 1;
    return commands.open(handle, request);
  };
  const { server, token } = await aScene(t, { runtime, commands: { open } });
  const line = await lineToService(t, server);
  const box = await new Berth({ server: `http://${line.host}`, token }).container('dev');
  const bytes = randomBytes(3_000_000);
  const cat = await box.exec(['cat'], { stdin: true });
  const written = cat.write(bytes).then(() => cat.closeInput());
  const parts: Uint8Array[] = [];
  let received = 0;
  let cuts = 0;
  for await (const { bytes: part } of cat) {
    parts.push(part);
    received += part.length;
    if (received < (cuts + 1) * 600_000) continue;
    cuts += 1;
    line.hangUp();
  }
  await written;
  t.equal(hash(Buffer.concat(parts)), hash(bytes));
  t.same([await cat.exitCode, starts], [0, 1]);
  t.ok(cuts >= 4, `${cuts} cuts`);
});

t.test('a signal and a size that a lost line took arrive', async (t) => {
  const { server, token } = await aScene(t);
  const line = await lineToService(t, server);
  const box = await new Berth({ server: `http://${line.host}`, token }).container('dev');
  const terminal = { cols: 90, rows: 20 };
  const sized = await box.exec('read line; stty size', { stdin: true, terminal });
  line.hangUp();
  sized.resize({ cols: 100, rows: 30 });
  await sized.write('\n');
  t.equal((await outputOf(sized)).stdout.toString(), '30 100\r\n');
  const sleeping = await box.exec(['sleep', '3600']);
  line.hangUp();
  sleeping.signal('TERM');
  t.same((await outputOf(sleeping)).exitCode, null);
});

t.test('the outcome of a command that does not go on is unknown; an abort ends it', async (t) => {
  const { ports, atWork } = endless();
  const { server, token, box: direct } = await aScene(t, ports);
  const line = await lineToService(t, server);
  const box = await new Berth({ server: `http://${line.host}`, token }).container('dev');
  const aborted = new AbortController();
  const other = outputOf(await box.exec(['tail', '-f'], { signal: aborted.signal }));
  aborted.abort(new Error('enough'));
  await t.rejects(other, /enough/);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
  const all = outputOf(await box.exec(['tail', '-f']));
  line.state.isDown = true;
  line.hangUp();
  await direct.stop();
  line.state.isDown = false;
  await t.rejects(all, { code: 'command_outcome_unknown' });
});
