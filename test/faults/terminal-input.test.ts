import t, { type Test } from 'tap';
import { Connection } from '../../web/src/terminal/connection.ts';
import { waitFor } from '../support/patience.ts';
import { aServicePlace, inside, small } from '../support/process/fault-scene.ts';
import { type CuttingProxy, cuttingProxy } from '../support/process/lines.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { intoFile, mixedUtf8, sha256 } from '../support/terminal/mixed-input.ts';
import { socketInFramesOf } from '../support/terminal/page-terminal.ts';

const RUNS = Number(process.env['INPUT_RUNS'] ?? (process.env['FAULTS'] === 'all' ? 20 : 1));
const FRAME_BYTES = [65_536, 4_096, 1_000, 7, 1];
/** Frames are counted as 64 bytes more than is in them, so a megabyte in the smallest takes a minute. */
const pasteBytes = (frameBytes: number): number =>
  RUNS > 1 ? 1_000_000 : Math.min(1_000_000, frameBytes * 20_000);

t.setTimeout(RUNS * 600_000);
t.test('a paste over a bad line arrives as it is, however it is cut into frames', async (t) => {
  const set = await aServicePlace(t);
  if (set === null) return;
  const service = await startService(t, set.place);
  const token = await signInAdmin(service);
  const call = client(service.address, token);
  const size = { ...small, memory_mb: 512, cpu_shares: 2_000 };
  const { body } = await call('POST', '/api/containers', { name: 'pasted', ...size });
  const dbId = body['db_id'] as string;
  const inTurn = FRAME_BYTES.flatMap((frameBytes) =>
    Array.from({ length: RUNS }, (_, run) => ({ frameBytes, run: run + 1 })),
  );
  let cuts = 0;
  let opening: Promise<unknown> = Promise.resolve();
  const worker = async (): Promise<void> => {
    for (let job = inTurn.shift(); job !== undefined; job = inTurn.shift()) {
      const { frameBytes, run } = job;
      const pane = `pane-${frameBytes}-${run}`;
      const line = { everyMs: 1_000 + Math.random() * 1_000, bytesPerMs: 5_000, delayMs: 200, isCalm: true };
      const proxy = await cuttingProxy(t, new URL(service.address), line);
      const paste = mixedUtf8(pasteBytes(frameBytes));
      const opened = opening.then(() => started(t, proxy, { dbId, pane, token, frameBytes, paste }));
      opening = opened.catch(() => {});
      const { connection, output } = await opened;
      proxy.begin();
      connection.write(paste);
      await waitFor(() => output().includes('#DONE'), {
        what: () => `${pane}: the end`,
        patienceMs: 1_200_000,
      });
      const sum = await inside(call, dbId, `sha256sum < /tmp/${pane}; rm /tmp/${pane}`);
      t.equal(sum, `${sha256(paste)}  -\n`, `${paste.length} bytes in frames of ${frameBytes}, run ${run}`);
      cuts += proxy.cuts();
      proxy.calm();
      connection.close();
    }
  };
  await Promise.all(FRAME_BYTES.map(worker));
  t.ok(cuts > 0, `${cuts} cuts`);
});

type Paste = {
  readonly dbId: string;
  readonly pane: string;
  readonly token: string;
  readonly frameBytes: number;
  readonly paste: Buffer;
};

/** A terminal whose program reads a paste into a file that is named like the pane. */
async function started(
  t: Test,
  proxy: CuttingProxy,
  { dbId, pane, token, frameBytes, paste }: Paste,
): Promise<{ readonly connection: Connection; readonly output: () => string }> {
  let output = '';
  const connection = new Connection(
    { containerId: dbId, connectionId: pane, size: { cols: 80, rows: 24 } },
    {
      origin: `ws://${proxy.host}`,
      openSocket: socketInFramesOf(frameBytes),
      token: async () => token,
      probe: async () => 'ok',
      backoff: { firstMs: 5, maxMs: 20 },
    },
    {
      health: () => {},
      state: () => {},
      resumed: () => {},
      bytes: (data) => {
        output += Buffer.from(data).toString('latin1');
      },
      frame: () => {},
    },
  );
  t.teardown(() => connection.close());
  connection.open();
  connection.write(Buffer.from(intoFile(`/tmp/${pane}`, paste.length)));
  await waitFor(() => output.includes('#START'), { patienceMs: 120_000, what: () => `${pane}: ${output}` });
  return { connection, output: () => output };
}
