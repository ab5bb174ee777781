import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { aServicePlace, small } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { castOf, shown } from '../support/terminal/recordings.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

t.setTimeout(180_000);
t.test('a killed service leaves a recording that lacks its last moment and nothing else', async (t) => {
  const set = await aServicePlace(t);
  if (set === null) return;
  const { place } = set;
  const folder = path.join(place.dataDir, 'recordings');
  const texts = (): string[] =>
    readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
  const first = await startService(t, place);
  const token = await signInAdmin(first);
  const call = client(first.address, token);
  const dbId = String((await call('POST', '/api/containers', { name: 'first', ...small })).body['db_id']);
  const at = { address: first.address.replace('http', 'ws'), dbId, token };
  const terminal = await terminalClient(
    at,
    { record: 'true' },
    { origin: first.address, patienceMs: 60_000 },
  );
  const type = (text: string): void => terminal.socket.send(Buffer.from(text), { binary: true });
  await terminal.until(() => terminal.output().includes('# '));
  type('echo mark-$((6*7))\n');
  await terminal.until(() => terminal.output().includes('mark-42'));
  const isWritten = (): boolean => texts().some((text) => text.includes('mark-42'));
  await waitFor(isWritten, { what: 'what was shown is in the file, without an end', patienceMs: 60_000 });
  type('while :; do echo héllo🚢 $((n+=1)); done\n');
  await terminal.until(() => terminal.output().length > 500_000);
  await first.stop('SIGKILL');

  const [name = ''] = readdirSync(folder);
  const file = path.join(folder, name);
  const [left = ''] = texts();
  const whole = castOf(left.slice(0, left.lastIndexOf('\n') + 1));
  t.match(whole.header, { version: 2 });
  t.match(left, /mark-42/, 'what was shown a while ago is in the file');
  // As when the process died in the middle of a write.
  appendFileSync(file, '[99.5,"o","h');

  const second = await startService(t, place);
  const again = client(second.address, await signInAdmin(second));
  const { body } = await again('GET', '/api/recordings');
  const [recording] = body['recordings'] as [Record<string, unknown>];
  t.match(recording, { state: 'ended', ended_at: String });
  const text = readFileSync(file, 'utf8');
  t.equal(Buffer.byteLength(text), recording['size_bytes']);
  const [lastSeconds = Number.NaN] = whole.events.at(-1) ?? [];
  t.ok(Number(recording['duration_ms']) >= Math.floor(lastSeconds * 1000), 'as long as what is left of it');
  t.notMatch(text, /99\.5/, 'half a line is gone');
  t.notMatch(shown(text), '\ufffd', 'and no character is in halves');
  t.match((await again('DELETE', `/api/recordings/${recording['id']}`)).body, { deleted: true });
  t.same(readdirSync(folder), []);
});
