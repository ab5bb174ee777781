import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { platformSocket } from '../../src/client/socket/socket.ts';
import { Connection } from '../../src/client/terminal/connection.ts';
import type { Resumed } from '../../src/client/terminal/resume.ts';
import { waitFor } from '../support/patience.ts';
import { type Call, inside, small } from '../support/process/fault-scene.ts';
import { cuttingProxy, wearingProxy } from '../support/process/lines.ts';
import { client, type Member, register, sharedService } from '../support/process/running-service.ts';
import { socketInFramesOf } from '../support/terminal/page-terminal.ts';
import { intoFile, mixedUtf8, sha256 } from '../support/terminal/terminal-client.ts';

const RUNS = Number(process.env['INPUT_RUNS'] ?? (process.env['FAULTS'] === 'all' ? 20 : 1));
const FRAME_BYTES = RUNS > 1 ? [65_536, 4_096, 1_000, 7, 1] : [65_536, 1_000, 1];
const PASTE_BYTES = RUNS > 1 ? 1_000_000 : 400_000;
/** Frames count as 64 bytes more than their content, so a megabyte in the smallest takes a minute. */
const pasteBytes = (frameBytes: number): number =>
  RUNS > 1 ? PASTE_BYTES : Math.min(PASTE_BYTES, frameBytes * 8_000);
/** A cut comes after this time, or up to twice as long: several in each paste. */
const CUT_AFTER_MS = PASTE_BYTES / 1_000;
/** More than the service keeps for a client that returns. */
const OUT_BYTES = 3_000_000;
const IN_BYTES = 1_000_000;
/**
 * A connection breaks after this: more than a frame of output with a piece of input, so that each makes progress, and
 * every second one while it opens.
 */
const BREAKS_AFTER_BYTES = [150_000, 600, 150_000, 1_200];

/** Sends a file and receives input at the same time, both unchanged. */
const BOTH_WAYS = `
stty raw -echo
printf START
cat /tmp/out &
head -c ${IN_BYTES} > /tmp/in
wait
printf END
exec sleep 1000
`;

type Line = { readonly host: string };
type Scene = { readonly address: string; readonly person: Member; readonly call: Call };

t.setTimeout(RUNS * 600_000);
const service = await sharedService(t);
if (service !== null) {
  const person = await register(service);
  const { address } = service;
  const scene: Scene = { address, person, call: client(address, person.token) };
  await t.test('a connection that breaks again and again loses nothing and repeats nothing', (t) =>
    bothWays(t, scene),
  );
  await t.test('a paste over a bad connection arrives unchanged, however it is cut into frames', (t) =>
    pastes(t, scene),
  );
}

async function made({ call }: Scene, name: string, over: object): Promise<string> {
  const { status, body } = await call('POST', '/api/containers', { name, ...small, ...over });
  if (status !== 201) throw new Error(`create answered ${status} ${JSON.stringify(body)}`);
  return String(body['db_id']);
}

type Asked = {
  readonly dbId: string;
  readonly pane: string;
  readonly openSocket: ConstructorParameters<typeof Connection>[1]['openSocket'];
};

/** The page's side of an open terminal behind a proxy, and its output. */
function connected(t: Test, { person }: Scene, proxy: Line, { dbId, pane, openSocket }: Asked) {
  const received: Uint8Array[] = [];
  const resumed: Resumed[] = [];
  let bytes = 0;
  const connection = new Connection(
    { containerId: dbId, connectionId: pane, size: { cols: 80, rows: 24 } },
    {
      origin: `ws://${proxy.host}`,
      openSocket,
      token: async () => person.token,
      probe: async () => 'ok',
      backoff: { firstMs: 5, maxMs: 20 },
    },
    {
      state: () => {},
      health: () => {},
      resumed: (how) => resumed.push(how),
      bytes: (data) => {
        received.push(data);
        bytes += data.length;
      },
      frame: () => {},
    },
  );
  t.teardown(() => connection.close());
  connection.open();
  const output = (): Buffer => Buffer.concat(received);
  return { connection, output, resumed, bytes: () => bytes };
}

async function bothWays(t: Test, scene: Scene): Promise<void> {
  const dbId = await made(scene, 'plain', { env: { BERTH_TMUX: 'off' } });
  const run = async (command: string) => String(await inside(scene.call, dbId, command)).trim();
  const heard = await run(
    `cat > /tmp/both.sh <<'END'\n${BOTH_WAYS}\nEND\nhead -c ${OUT_BYTES} /dev/urandom > /tmp/out; sha256sum < /tmp/out`,
  );
  const line = { bytesPerMs: 1_250, afterBytes: BREAKS_AFTER_BYTES };
  const proxy = await wearingProxy(t, new URL(scene.address), line);
  const asked = { dbId, pane: 'main', openSocket: platformSocket };
  const { connection, output, resumed, bytes } = connected(t, scene, proxy, asked);
  const shows = (text: string): Promise<void> => waitFor(() => output().includes(text), { what: text });
  await shows('# ');
  connection.write(Buffer.from('sh /tmp/both.sh\r'));
  await shows('START');
  const start = output().indexOf('START') + 'START'.length;
  const paste = randomBytes(IN_BYTES);
  connection.write(paste);
  const isDone = (): boolean => bytes() >= start + OUT_BYTES + 'END'.length;
  await waitFor(isDone, { what: () => `${bytes() - start} bytes came`, patienceMs: 300_000 });
  const all = output().subarray(start);
  t.equal(`${sha256(all.subarray(0, OUT_BYTES))}  -`, heard, 'output');
  t.equal(all.subarray(OUT_BYTES).toString(), 'END');
  t.equal(await run('sha256sum < /tmp/in'), `${sha256(paste)}  -`, 'input');
  t.ok(proxy.cuts() > 10, `${proxy.cuts()} cuts`);
  t.same(new Set(resumed), new Set(['fresh', 'exact']));
}

async function pastes(t: Test, scene: Scene): Promise<void> {
  const dbId = await made(scene, 'pasted', { memory_mb: 512, cpu_shares: 2_000 });
  const inTurn = FRAME_BYTES.flatMap((frameBytes) =>
    Array.from({ length: RUNS }, (_, run) => ({ frameBytes, run: run + 1 })),
  );
  let cuts = 0;
  let opening: Promise<unknown> = Promise.resolve();
  const worker = async (): Promise<void> => {
    for (let job = inTurn.shift(); job !== undefined; job = inTurn.shift()) {
      const { frameBytes, run } = job;
      const pane = `pane-${frameBytes}-${run}`;
      const everyMs = CUT_AFTER_MS * (1 + Math.random());
      const line = { everyMs, bytesPerMs: 5_000, delayMs: 200, isCalm: true };
      const proxy = await cuttingProxy(t, new URL(scene.address), line);
      const paste = mixedUtf8(pasteBytes(frameBytes));
      const asked = { dbId, pane, openSocket: socketInFramesOf(frameBytes) };
      const opened = opening.then(() => reading(t, scene, proxy, asked, paste.length));
      opening = opened.catch(() => {});
      const { connection, output } = await opened;
      proxy.begin();
      connection.write(paste);
      const isDone = () => output().includes('#DONE');
      await waitFor(isDone, { what: () => `${pane}: the end`, patienceMs: 1_200_000 });
      const sum = await inside(scene.call, dbId, `sha256sum < /tmp/${pane}; rm /tmp/${pane}`);
      t.equal(sum, `${sha256(paste)}  -\n`, `${paste.length} bytes in frames of ${frameBytes}, run ${run}`);
      cuts += proxy.cuts();
      proxy.calm();
      connection.close();
    }
  };
  await Promise.all(FRAME_BYTES.map(worker));
  t.ok(cuts > 0, `${cuts} cuts`);
}

/** A terminal whose program reads this many bytes into a file named after the pane. */
async function reading(t: Test, scene: Scene, proxy: Line, asked: Asked, bytes: number) {
  const terminal = connected(t, scene, proxy, asked);
  const { connection, output } = terminal;
  connection.write(Buffer.from(intoFile(`/tmp/${asked.pane}`, bytes)));
  const isStarted = () => output().includes('#START');
  await waitFor(isStarted, { patienceMs: 120_000, what: () => `${asked.pane}: ${output()}` });
  return terminal;
}
