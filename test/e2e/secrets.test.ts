import pg from 'pg';
import t from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { ADMIN, aPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';
import { codeAt } from '../support/service/factors.ts';

/** Everything in every table of the schema, as text. */
async function everythingIn(url: string): Promise<string> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    const tables = await database.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await database.query<{ row: string }>(
        `select to_jsonb(x)::text as row from ${name} x`,
      );
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await database.end();
  }
}

/** Base64 and hex of a secret would be the secret as well. */
const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

t.setTimeout(120_000);
t.test('no secret is in the log or in the database, at the most talkative level', async (t) => {
  const url = await freshDatabase(t);
  const place = url === null ? null : await aPlace(t, { DATABASE_URL: url, BERTH_LOG_LEVEL: 'trace' });
  if (place === null || url === null) return;
  const running = await startService(t, place);
  const setupCode = running.setupCode ?? '';
  const jwt = await signInAdmin(running);
  const call = client(running.address, jwt);
  const made = (await call('POST', '/api/tokens', { name: 'ci' })).body as { token: string };
  await client(running.address, made.token)('GET', '/api/tokens/validate');
  await client(running.address, made.token)('POST', '/api/tokens', { name: 'refused' });
  const mfa = (await call('POST', '/api/me/mfa')).body as { secret: string };
  const confirmed = await call('POST', '/api/me/mfa/confirm', { code: codeAt(mfa.secret, new Date()) });
  const { recovery_codes: recoveryCodes } = confirmed.body as { recovery_codes: string[] };
  await call('PUT', '/api/me/lock', { passcode: 'open sesame 42' });
  await call('POST', '/api/me/passkeys/options', { password: ADMIN.password, code: recoveryCodes[1] });
  await client(running.address)('POST', '/api/auth/login', {
    email: ADMIN.email,
    password: 'not the password',
  });
  const waiting = await client(running.address)('POST', '/api/auth/login', {
    email: ADMIN.email,
    password: ADMIN.password,
  });
  const { mfa_token: mfaToken } = waiting.body as { mfa_token: string };
  const recovered = await fetch(`${running.address}/api/auth/mfa`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mfa_token: mfaToken, code: recoveryCodes[0] }),
  });
  t.equal(recovered.status, 200);
  const cookie = /berth_refresh=([^;]+)/.exec(recovered.headers.get('set-cookie') ?? '')?.[1] ?? '';
  await fetch(`${running.address}/api/auth/refresh`, {
    method: 'POST',
    headers: { cookie: `berth_refresh=${cookie}` },
  });
  await fetch(`${running.address}/api/containers?token=${made.token}`, {
    headers: { authorization: `Bearer ${jwt}` },
  });

  const secrets = {
    'set-up code': setupCode,
    password: ADMIN.password,
    'wrong password': 'not the password',
    'login token': jwt,
    'API token': made.token,
    'second factor': mfa.secret,
    'waiting token': mfaToken,
    'refresh token': cookie,
    passcode: 'open sesame 42',
    'recovery code': recoveryCodes[0] ?? '',
    'unused recovery code': recoveryCodes[1] ?? '',
  };
  await running.stop();
  // The set-up link is printed for the person who started it; it is no log.
  const log = running.output().replace(`#code=${setupCode}`, '');
  const stored = await everythingIn(url);
  t.match(log, 'request answered', 'the log is that talkative');
  t.match(stored, ADMIN.email, 'the database was read');
  for (const [name, secret] of Object.entries(secrets)) {
    t.ok(secret.length > 5, `there is a ${name}`);
    for (const form of formsOf(secret)) {
      t.notOk(log.includes(form), `no ${name} in the log`);
      t.notOk(stored.includes(form), `no ${name} in the database`);
    }
  }
});
