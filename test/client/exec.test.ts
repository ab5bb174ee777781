import { createHash, randomBytes } from 'node:crypto';
import { connect as dial } from 'node:net';
import t, { type Test } from 'tap';
import type { Ports } from '../../src/app/main/compose-options.ts';
import { Berth, type RunningCommand } from '../../src/client/index.ts';
import { platformSocket } from '../../src/client/socket/socket.ts';
import { waitFor } from '../support/patience.ts';
import { ANY_PORT, relay } from '../support/process/lines.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { endless } from '../support/service/streams.ts';
import { listening } from '../support/terminal/terminals.ts';

async function aScene(t: Test, ports: Partial<Ports> = {}) {
  const service = await aService(ports);
  const server = (await listening(t, service)).replace('ws', 'http');
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

t.test('a lost connection ends the command, and its outcome is unknown', async (t) => {
  const { ports, atWork } = endless();
  const { server, token } = await aScene(t, ports);
  const { hostname, port } = new URL(server);
  const toFar = () => dial(Number(port), hostname);
  const line = await relay(t, ANY_PORT, toFar, (from, into) => {
    from.once('close', () => into.destroy()).pipe(into);
  });
  const box = await new Berth({ server: `http://${line.host}`, token }).container('dev');
  const tail = await box.exec(['tail', '-f']);
  const all = outputOf(tail);
  await waitFor(() => atWork() === 1);
  line.hangUp();
  await t.rejects(all, { code: 'command_outcome_unknown' });
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
  const aborted = new AbortController();
  const other = outputOf(await box.exec(['tail', '-f'], { signal: aborted.signal }));
  aborted.abort(new Error('enough'));
  await t.rejects(other, /enough/);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
});
