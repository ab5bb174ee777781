import { readFileSync } from 'node:fs';
import path from 'node:path';
// biome-ignore lint/style/noRestrictedImports: requests at a steady pace until the test ends them
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { eventually, waitFor } from '../support/patience.ts';
import { ADMIN, client, startService } from '../support/process/running-service.ts';

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

t.test('SIGHUP rotates the key of a running service, and no request is refused for it', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const dataDir = t.testdir();
  const env = {
    DATABASE_URL: url,
    DOCKER_HOST: 'unix:///nonexistent/docker.sock',
    BERTH_ENGINE: 'external',
    BERTH_PORT: '0',
    BERTH_DATA_DIR: dataDir,
    BERTH_ADMIN_EMAIL: ADMIN.email,
    BERTH_ADMIN_PASSWORD: ADMIN.password,
  };
  const service = await startService(t, { dataDir, env });
  const { email, password } = ADMIN;
  const signIn = async (): Promise<string> =>
    (await client(service.address)('POST', '/api/auth/login', { email, password })).body['token'] as string;
  const before = await signIn();
  const statuses = new Map<number, number>();
  let asking = true;
  const asked = Promise.all(
    [1, 2].map(async () => {
      for (; asking; await delay(10)) {
        const { status } = await client(service.address, before)('GET', '/api/me');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  process.kill(Number(readFileSync(path.join(dataDir, 'lock'), 'utf8')), 'SIGHUP');
  const after = await eventually(signIn, (token) => kidOf(token) !== kidOf(before));
  t.not(kidOf(after), kidOf(before), 'new tokens are signed with the new key');
  t.equal((await client(service.address, after)('GET', '/api/me')).status, 200);
  const then = statuses.get(200) ?? 0;
  await waitFor(() => (statuses.get(200) ?? 0) >= then + 20);
  asking = false;
  await asked;
  t.same([...statuses.keys()], [200]);
  t.ok((statuses.get(200) ?? 0) >= then + 20, `${then} requests before, and more after`);
  t.match(service.output(), /keys of login tokens were rotated/, 'the log says so');
  t.notMatch(service.output(), before);
});
