import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { small } from '../support/fault-scene.ts';
import { castOf, shown } from '../support/recordings.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';
import { terminalClient } from '../support/terminal-client.ts';

/** Longer than the second that may be lost, for a machine that is busy. */
const KEPT_AFTER_MS = 4_000;

t.setTimeout(180_000);
t.test('a killed service leaves a recording that lacks its last moment and nothing else', async (t) => {
  const place = await aPlace(t);
  const url = await freshDatabase(t);
  if (place === null || url === null) return;
  Object.assign(place.env, { DATABASE_URL: url });
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
  const saw = (text: string): boolean => terminal.output().toString().includes(text);
  for (let tries = 0; tries < 60 && !saw('mark-42'); tries++) {
    type('echo mark-$((6*7))\n');
    await sleep(500);
  }
  t.ok(saw('mark-42'), 'the shell answers');
  await sleep(KEPT_AFTER_MS);
  type('while :; do echo héllo🚢 $((n+=1)); done\n');
  await terminal.until(() => terminal.output().length > 500_000);
  await first.stop('SIGKILL');

  const folder = path.join(place.dataDir, 'recordings');
  const [name = ''] = readdirSync(folder);
  const file = path.join(folder, name);
  const left = readFileSync(file, 'utf8');
  t.match(castOf(left.slice(0, left.lastIndexOf('\n') + 1)).header, { version: 2 });
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
  t.ok(Number(recording['duration_ms']) >= KEPT_AFTER_MS);
  t.notMatch(text, /99\.5/, 'half a line is gone');
  t.notMatch(shown(text), '\ufffd', 'and no character is in halves');
  t.match((await again('DELETE', `/api/recordings/${recording['id']}`)).body, { deleted: true });
  t.same(readdirSync(folder), []);
});
