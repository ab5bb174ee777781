import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { aServer, type Server, signIn } from '../support/server.ts';

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

const statusOf = async ({ address }: Server, token: string): Promise<number> =>
  (await fetch(`${address}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status;

t.test('SIGHUP rotates the key of a running service, and no request is refused for it', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const server = await aServer(t, url, t.testdir());
  const before = await signIn(server);
  const statuses = new Map<number, number>();
  let asking = true;
  const asked = Promise.all(
    [1, 2, 3, 4].map(async () => {
      for (; asking; await delay(2)) {
        const status = await statusOf(server, before);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  const pid = Number(readFileSync(path.join(server.dataDir, 'lock'), 'utf8'));
  process.kill(pid, 'SIGHUP');
  let after = before;
  for (let tries = 0; kidOf(after) === kidOf(before) && tries < 50; tries += 1) after = await signIn(server);
  t.not(kidOf(after), kidOf(before), 'new tokens are signed with the new key');
  t.equal(await statusOf(server, after), 200);
  await delay(100);
  asking = false;
  await asked;
  t.same([...statuses.keys()], [200]);
  t.ok((statuses.get(200) ?? 0) > 20, `${statuses.get(200)} requests`);
  t.match(server.errors(), /keys of login tokens were rotated/, 'the log says so');
  t.notMatch(server.errors(), before);
});
