import path from 'node:path';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { ADMIN, client, startService } from '../support/running-service.ts';

const JWT_SECRET = 'k3v9Qz7Lw2Rt8Yb5Nc4Xd6Fg1Hj0MpasKeepThisLong';

t.test('what is revoked at one process is refused at the other within a second', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const root = t.testdir({ a: {}, b: {} });
  const start = (name: string) => {
    const dataDir = path.join(root, name);
    const env = {
      DATABASE_URL: url,
      DOCKER_HOST: 'unix:///nonexistent/docker.sock',
      BERTH_ENGINE: 'external',
      BERTH_PORT: '0',
      BERTH_DATA_DIR: dataDir,
      BERTH_JWT_SECRET: JWT_SECRET,
      BERTH_ADMIN_EMAIL: ADMIN.email,
      BERTH_ADMIN_PASSWORD: ADMIN.password,
    };
    return startService(t, { dataDir, env });
  };
  const here = await start('a');
  const there = await start('b');
  const { email, password } = ADMIN;
  const signIn = async (): Promise<{ token: string; id: string }> => {
    const { body } = await client(here.address)('POST', '/api/auth/login', { email, password });
    return { token: body['token'] as string, id: body['session_id'] as string };
  };
  const [own, victim] = [await signIn(), await signIn()];
  const made = await client(here.address, own.token)('POST', '/api/tokens', { name: 'ci' });
  const credentials = [victim.token, made.body['token'] as string];
  const statuses = (): Promise<number[]> =>
    Promise.all(
      credentials.map(async (one) => (await client(there.address, one)('GET', '/api/containers')).status),
    );
  t.same(await statuses(), [200, 200], 'good at both, and remembered by now');
  await client(here.address, own.token)('DELETE', `/api/sessions/${victim.id}`);
  await client(here.address, own.token)('POST', `/api/tokens/${made.body['id']}/revoke`);
  const revokedAt = performance.now();
  let seen = await statuses();
  while (seen.includes(200) && performance.now() - revokedAt < 5_000) seen = await statuses();
  t.same(seen, [401, 401]);
  t.ok(performance.now() - revokedAt < 1_000, `${(performance.now() - revokedAt).toFixed(0)} ms`);
});
