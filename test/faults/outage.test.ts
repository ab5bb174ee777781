// biome-ignore lint/style/noRestrictedImports: the outage lasts longer than what is remembered
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { freshDatabase } from '../support/database/database.ts';
import { aKeptContainer, eventually } from '../support/process/fault-scene.ts';
import { aLineTo } from '../support/process/lines.ts';
import { aPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';

/** Longer than what was looked up is remembered, and than an open terminal goes without a look at its credential. */
const OUTAGE_SECONDS = process.env['FAULTS'] === 'all' ? 60 : 6;

t.setTimeout(600_000);

/** A shell that says what it is asked to, and how its line ended, if it has. */
async function aShell(address: string, dbId: string, token: string) {
  const url = `${address.replace('http', 'ws')}/api/containers/${dbId}/terminal`;
  const socket = new WebSocket(url, ['berth.terminal.v1', `bearer.${token}`]);
  let output = '';
  let end: string | null = null;
  socket.on('message', (data, isBinary) => {
    if (isBinary) output += String(data);
  });
  socket.on('error', (error) => {
    end ??= error.message;
  });
  socket.on('close', (code, reason) => {
    end ??= `${code} ${reason}`;
  });
  await new Promise<void>((resolve) => socket.once('message', () => resolve()));
  return {
    end: () => end,
    close: () => socket.terminate(),
    /** Whether the answer to a sum, which the line itself does not hold, came. */
    async echoes(n: number): Promise<boolean> {
      socket.send(Buffer.from(`echo "<$((${n} * 7))>"\r`));
      return await eventually(
        async () => output.includes(`<${n * 7}>`),
        (seen) => seen,
      );
    },
  };
}

async function outage(t: Test): Promise<void> {
  const real = await freshDatabase(t);
  if (real === null) return;
  const line = await aLineTo(t, real);
  const place = await aPlace(t, { DATABASE_URL: line.url });
  if (place === null) return;
  const { address, ...running } = await startService(t, place);
  const token = await signInAdmin({ address, ...running });
  const call = client(address, token);
  const { dbId } = await aKeptContainer(call);
  const shell = await aShell(address, dbId, token);
  t.ok(await shell.echoes(1), 'the shell answers');

  line.cut();
  const status = async (): Promise<number> => (await call('GET', '/api/containers')).status;
  // A credential that was looked up a moment ago is remembered for a second, and gets as far as the request's own words.
  const isRemembered = (one: number): boolean => one === 200 || one === 500;
  t.equal(await eventually(status, (one) => !isRemembered(one)), 503, 'an outage is no bad credential');
  const seen = new Set<string>();
  const headers = { authorization: `Bearer ${token}` };
  let asked = 0;
  for (const end = performance.now() + OUTAGE_SECONDS * 1000; performance.now() < end; await sleep(500)) {
    asked += 1;
    const answer = await fetch(`${address}/api/containers`, { headers });
    seen.add(`${answer.status} ${answer.headers.has('retry-after')}`);
    t.ok(await shell.echoes(100 + asked), `the terminal answers, ${asked}`);
    t.equal((await call('GET', '/livez')).status, 200, 'an outage is no reason to end the service');
    t.equal((await call('GET', '/readyz')).status, 503);
  }
  t.same(
    [...seen],
    ['503 true'],
    `asked ${asked} times: to come again, and never that the credential is bad`,
  );

  line.mend();
  const mendedAt = performance.now();
  t.equal(await eventually(status, (one) => one === 200), 200, 'back with the same token');
  t.comment(`back after ${Math.round(performance.now() - mendedAt)} ms`);
  t.ok(await shell.echoes(7_000), 'the terminal is still the same one');
  t.equal(shell.end(), null);
  const listed = async () => (await call('GET', '/api/admin/terminals')).body['terminals'] as unknown[];
  t.equal((await eventually(listed, (all) => all?.length === 1)).length, 1, 'and is listed');
  t.equal(
    await eventually(
      async () => (await call('GET', '/readyz')).status,
      (one) => one === 200,
    ),
    200,
  );
  shell.close();
}

t.test('a database that is gone for a minute', outage);
