import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { platformSocket } from '../../web/src/terminal/browser-socket.ts';
import { Connection } from '../../web/src/terminal/connection.ts';
import type { Resumed } from '../../web/src/terminal/resume.ts';
import { waitFor } from '../support/patience.ts';
import { aServicePlace, small } from '../support/process/fault-scene.ts';
import { cuttingProxy } from '../support/process/lines.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const OUT_BYTES = 10_000_000;
const IN_BYTES = 1_000_000;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Sends a file and takes input at the same time, both as they are. */
const BOTH_WAYS = `
stty raw -echo
printf START
cat /tmp/out &
head -c ${IN_BYTES} > /tmp/in
wait
printf END
exec sleep 1000
`;

t.test('terminals over bad lines, and over a restart', async (t) => {
  const set = await aServicePlace(t);
  if (set === null) return;
  const { place } = set;
  const first = await startService(t, place);
  const token = await signInAdmin(first);
  const call = client(first.address, token);
  const make = async (name: string, env = {}): Promise<string> =>
    (await call('POST', '/api/containers', { name, ...small, env })).body['db_id'] as string;
  const [plain, muxed] = [await make('plain', { BERTH_TMUX: 'off' }), await make('muxed')];
  const run = async (command: string): Promise<string> => {
    const answer = await call('POST', `/api/containers/${plain}/exec`, { command: ['sh', '-c', command] });
    return String(answer.body['stdout']).trim();
  };

  await t.test('a line that breaks every 200 ms loses nothing and repeats nothing', async (t) => {
    const told = await run(
      `cat > /tmp/both.sh <<'END'\n${BOTH_WAYS}\nEND\nhead -c ${OUT_BYTES} /dev/urandom > /tmp/out; sha256sum < /tmp/out`,
    );
    const proxy = await cuttingProxy(t, new URL(first.address), { everyMs: 200, bytesPerMs: 5_000 });
    const output: Uint8Array[] = [];
    const resumed: Resumed[] = [];
    let bytes = 0;
    const connection = new Connection(
      { containerId: plain, connectionId: 'main', size: { cols: 80, rows: 24 } },
      {
        origin: `ws://${proxy.host}`,
        openSocket: platformSocket,
        token: async () => token,
        probe: async () => 'ok',
        backoff: { firstMs: 5, maxMs: 20 },
      },
      {
        state: () => {},
        health: () => {},
        resumed: (how) => resumed.push(how),
        bytes: (data) => {
          output.push(data);
          bytes += data.length;
        },
        frame: () => {},
      },
    );
    t.teardown(() => connection.close());
    connection.open();
    const text = (): string => Buffer.concat(output).toString('latin1');
    await waitFor(() => text().includes('# '), { what: 'a prompt' });
    connection.write(Buffer.from('sh /tmp/both.sh\r'));
    await waitFor(() => text().includes('START'), { what: 'the program' });
    const start = text().indexOf('START') + 'START'.length;
    const paste = randomBytes(IN_BYTES);
    connection.write(paste);
    const isDone = (): boolean => bytes >= start + OUT_BYTES + 'END'.length;
    await waitFor(isDone, { what: () => `${bytes - start} bytes came`, patienceMs: 90_000 });
    const all = Buffer.concat(output).subarray(start);
    t.equal(`${sha256(all.subarray(0, OUT_BYTES))}  -`, told, 'output');
    t.equal(all.subarray(OUT_BYTES).toString(), 'END');
    t.equal(await run('sha256sum < /tmp/in'), `${sha256(paste)}  -`, 'input');
    t.ok(proxy.cuts() > 10, `${proxy.cuts()} cuts`);
    t.same(new Set(resumed), new Set(['fresh', 'exact']));
  });

  await t.test('a killed service comes back to the same session, drawn anew', async (t) => {
    const at = { address: first.address.replace('http', 'ws'), dbId: muxed, token };
    const before = await terminalClient(at, {}, { origin: first.address });
    await before.until(() => before.output().includes('# '));
    before.socket.send(Buffer.from('echo still-$((40+2))\r'));
    await before.until(() => before.output().includes('still-42'));
    await first.stop('SIGKILL');
    const second = await startService(t, place);
    const again = { ...at, address: second.address.replace('http', 'ws'), token: await signInAdmin(second) };
    const { stream } = before.ready;
    const resume = { stream, after: before.output().length };
    const after = await terminalClient(again, resume, { origin: second.address });
    t.match(after.ready, { redraw: true, mux_session: 'main' });
    t.not(after.ready.stream, stream);
    await after.until(() => after.output().includes('still-42'));
    after.socket.terminate();
    t.equal(await second.stop(), 0, 'and ends with terminals that wait');
  });
});
