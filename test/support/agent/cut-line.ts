import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { aFolder } from '../folder.ts';
import { standsStill, waitFor } from '../patience.ts';
import { sha256 } from '../terminal/terminal-client.ts';
import { aMachine } from './machine.ts';
import { aShell, testService } from './service.ts';

const OUT_BYTES = 5_000_000;
const IN_BYTES = 200_000;

/**
 * An agent on a machine of its own, whose line drops every packet in the midst of output and input. `untilGivenUp`: for
 * so long that the agent gives the line up and connects again; else its connection survives.
 */
export async function cutInTheMidst(
  t: Test,
  { untilGivenUp }: { readonly untilGivenUp: boolean },
): Promise<void> {
  const machine = await aMachine(t);
  const service = await testService(t, { host: machine.here });
  const folder = aFolder(t);
  const [out, into] = [randomBytes(OUT_BYTES), randomBytes(IN_BYTES)];
  writeFileSync(path.join(folder, 'out'), out);
  writeFileSync(
    path.join(folder, 'both.sh'),
    `stty raw -echo; printf START; cat out & head -c ${IN_BYTES} > in; wait; printf END; exec cat`,
  );
  const program = [process.execPath, path.resolve('src/agent/bin/agent.ts')];
  const agent = machine.run('env', [
    ...[`HOME=${folder}`, `XDG_STATE_HOME=${folder}`, 'BERTH_TOKEN=svc_x'],
    ...[...program, '--insecure', '--server', service.address],
  ]);
  await waitFor(service.isConnected, { what: agent.errors });
  const shell = service.open(aShell('main'));
  const shows = (text: string) => waitFor(() => shell.bytes().includes(text), { what: text });
  await waitFor(() => shell.reply());
  shell.channel.write(Buffer.from('sh both.sh\r'));
  await shows('START');
  const start = shell.bytes().indexOf('START') + 'START'.length;
  const received = (): number => shell.bytes().length - start;
  const sending = shell.send(into);
  await waitFor(() => received() > OUT_BYTES / 4);
  await machine.cut();
  const seen = await standsStill(async () => received());
  t.ok(seen < OUT_BYTES, `cut after ${seen} bytes`);
  const isGivenUp = (): boolean => agent.errors().includes('nothing was heard');
  if (untilGivenUp) await waitFor(isGivenUp, { what: 'the agent gives it up', patienceMs: 60_000 });
  await machine.restore();
  await sending;
  await waitFor(() => received() >= OUT_BYTES + 3, {
    what: () => `${received()} bytes came; ${agent.errors()}`,
    patienceMs: 90_000,
  });
  t.equal(sha256(shell.bytes().subarray(start, start + OUT_BYTES)), sha256(out), 'output');
  t.equal(
    shell
      .bytes()
      .subarray(start + OUT_BYTES)
      .toString(),
    'END',
  );
  t.equal(sha256(readFileSync(path.join(folder, 'in'))), sha256(into), 'input');
  t.equal(service.greetings.length > 1, untilGivenUp, `${service.greetings.length} connections`);
  const list = service.open({ type: 'shells' });
  t.match(await list.over(), { shells: [{ shell: 'main', viewers: 1 }] }, 'the same shell');
  // its shell writes into the folder until it has ended
  agent.process.kill('SIGTERM');
  t.equal(await agent.ended, 0);
}
