// biome-ignore lint/style/noRestrictedImports: requests at a steady pace until the test ends them
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  asFirst,
  fillPerson,
  focused,
  newContainer,
  openPage,
  PERSON,
  type SetUpVisit,
  setUpPage,
} from '../support/browser/page.ts';
import { freshDatabase } from '../support/database/database.ts';
import { eventually, waitFor } from '../support/patience.ts';
import { small } from '../support/process/fault-scene.ts';
import { anInstallation, client } from '../support/process/running-service.ts';
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

const GUEST = 'Continue as a guest';
const PAUSED_AT_MS = Date.now();
const email = (page: Page) => page.getByLabel('Email or username');

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

/** A secret's Base64 and hex would reveal it too. */
const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

const url = await freshDatabase(t);
const env = {
  DATABASE_URL: url ?? '',
  DOCKER_HOST: 'unix:///nowhere/docker.sock',
  // The most detailed level.
  BERTH_LOG_LEVEL: 'trace',
};
const scene = url === null ? null : await setUpPage(t, await anInstallation(t, env));
if (url !== null && scene !== null) {
  const browser = scene.page.context().browser() as Browser;
  await t.test('an older set-up link is refused, and corrected with the newest one', (t) =>
    setUpByOlderLink(t, scene),
  );
  await t.test('without an engine it starts degraded and says how to fix it', (t) => isDegraded(t, scene));
  await t.test('without an engine the page says how to fix it', (t) => pageSaysSo(t, scene));
  await t.test('the sign-in page offers what is enabled, and nothing moves', (t) =>
    offersWhatIsOn(t, scene, browser),
  );
  await t.test("SIGHUP rotates a running service's key without a refused request", (t) =>
    rotatesKeys(t, scene),
  );
  await t.test('no secret is in the log or in the database', (t) => keepsSecrets(t, scene, url));
}

/** Opens an older link, tries it, and corrects it with the newest one. */
async function setUpByOlderLink(t: Test, { address, setUpLink, page, faults }: SetUpVisit): Promise<void> {
  await page.getByText('Welcome aboard').waitFor();
  t.equal(page.url(), `${address}/setup`, 'the one-time code leaves the address bar');
  t.equal(await focused(page), 'email', 'a link that is good leaves nothing to ask');
  await page.goto(`${address}/sign-in`);
  await page.goto(`${address}/setup#code=older`);
  await page.getByText('This code is no longer valid.').waitFor();
  t.equal(await focused(page), 'code', 'the code can be corrected before anything is filled in');
  const { email, username, password } = PERSON;
  const refused = page.waitForResponse((answer) => answer.url().endsWith('/api/auth/setup'));
  await fillPerson(page, { email, username, password });
  t.equal((await refused).status(), 403);
  await page.locator('button[type=submit][aria-busy=false]').waitFor();
  await page.fill('[name=code]', setUpLink);
  await page.keyboard.press('Enter');
  await page.getByText('No containers yet').waitFor();
  t.match(faults.splice(0), [/403/, /403/], 'what the browser says of a refusal');
}

async function isDegraded(t: Test, { running }: SetUpVisit): Promise<void> {
  t.match(running.output(), /no container engine/i);
  const call = await asFirst(running.address);
  const ready = await call('GET', '/readyz');
  t.equal(ready.status, 200);
  t.match(ready.body, { status: 'degraded', parts: { engine: { status: 'degraded', mend: /docker/i } } });
  t.same(await call('POST', '/api/containers', { name: 'dev', ...small }), {
    status: 500,
    body: { error: 'failed to create container', code: 'internal_error' },
  });
  t.match((await call('GET', '/api/containers')).body, { containers: [] });
}

async function pageSaysSo(t: Test, { page }: SetUpVisit): Promise<void> {
  await page.getByText('The container engine is not running').waitFor();
  t.match(await page.locator('.command code').innerText(), /^sudo /);
  await newContainer(page, 'too-early');
  await page.getByText('Failed to create container').waitFor();
  t.match(await page.locator('dialog .problem').innerText(), /engine is not running/);
}

async function offersWhatIsOn(t: Test, { address }: SetUpVisit, browser: Browser): Promise<void> {
  const { page: stranger } = await openPage(browser);
  const door = await atTheDoor(stranger, address);
  t.equal(await email(stranger).count(), 0, 'no form before it is known what belongs to it');
  await door.answer();
  await email(stranger).waitFor();
  t.equal(await stranger.getByText(GUEST).count(), 0, 'guests are off as it comes');

  const admin = await asFirst(address);
  await admin('PATCH', '/api/admin/settings', { guests_enabled: true, open_registration: true });
  const { page: guest } = await openPage(browser);
  const open = await atTheDoor(guest, address);
  await guest.clock.runFor(2_000);
  await email(guest).waitFor();
  t.equal(await guest.getByText(GUEST).count(), 0, 'a form without an answer lets people sign in');
  await open.answer();
  await guest.getByText(GUEST).waitFor();
  await guest.getByText(GUEST).click();
  await guest.getByText('No containers yet').waitFor();
}

/**
 * Opens the sign-in page with the answer about what is offered in the test's hand. The page shows its form without one
 * after a while, so its clock goes only as far as it must until it has asked.
 */
async function atTheDoor(page: Page, address: string) {
  let isAsked = false;
  let letThrough = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route('**/api/auth/options', async (route) => {
    isAsked = true;
    await mayAnswer;
    await route.continue();
  });
  await page.clock.install({ time: PAUSED_AT_MS - 1_000 });
  await page.clock.pauseAt(PAUSED_AT_MS);
  await page.goto(`${address}/sign-in`);
  await waitFor(
    async () => {
      await page.clock.runFor(20);
      return isAsked;
    },
    { everyMs: 20 },
  );
  const answer = async (): Promise<void> => {
    letThrough();
    await page.clock.resume();
  };
  return { answer };
}

async function rotatesKeys(t: Test, { address, running }: SetUpVisit): Promise<void> {
  const admin = await asFirst(address);
  t.equal((await admin('PATCH', '/api/admin/settings', { requests_per_minute: 0 })).status, 200);
  const { email, password } = PERSON;
  const signIn = async (): Promise<string> =>
    String((await client(address)('POST', '/api/auth/login', { email, password })).body['token']);
  const before = await signIn();
  const statuses = new Map<number, number>();
  let asking = true;
  const asked = Promise.all(
    [1, 2].map(async () => {
      for (; asking; await delay(20)) {
        const { status } = await client(address, before)('GET', '/api/me');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  running.child.kill('SIGHUP');
  await waitFor(() => running.output().includes('keys of login tokens were rotated'));
  const after = await eventually(signIn, (token) => kidOf(token) !== kidOf(before), { everyMs: 100 });
  t.not(kidOf(after), kidOf(before), 'new tokens are signed with the new key');
  t.equal((await client(address, after)('GET', '/api/me')).status, 200);
  const then = statuses.get(200) ?? 0;
  await waitFor(() => (statuses.get(200) ?? 0) >= then + 20);
  asking = false;
  await asked;
  t.same([...statuses.keys()], [200]);
}

/** Uses every kind of secret; returns them by name. */
async function secretsUsed(t: Test, { address, running }: SetUpVisit): Promise<Record<string, string>> {
  const post = (path: string, payload: object | null, headers = {}) =>
    fetch(address + path, {
      method: 'POST',
      headers: { ...(payload === null ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(payload === null ? {} : { body: JSON.stringify(payload) }),
    });
  const { email, password } = PERSON;
  const signIn = (password: string) => client(address)('POST', '/api/auth/login', { email, password });
  const jwt = String((await signIn(password)).body['token']);
  const call = client(address, jwt);
  const made = (await call('POST', '/api/tokens', { name: 'ci' })).body as { token: string };
  await client(address, made.token)('GET', '/api/tokens/validate');
  await client(address, made.token)('POST', '/api/tokens', { name: 'refused' });
  const mfa = (await call('POST', '/api/me/mfa')).body as { secret: string };
  const confirmed = await call('POST', '/api/me/mfa/confirm', { code: codeAt(mfa.secret, new Date()) });
  const [used = '', unused = ''] = confirmed.body['recovery_codes'] as string[];
  await call('PUT', '/api/me/lock', { passcode: 'open sesame 42' });
  await call('POST', '/api/me/passkeys/options', { password, code: unused });
  await signIn('not the password');
  const mfaToken = String((await signIn(password)).body['mfa_token']);
  const recovered = await post('/api/auth/mfa', { mfa_token: mfaToken, code: used });
  t.equal(recovered.status, 200);
  const cookie = /berth_refresh=([^;]+)/.exec(recovered.headers.get('set-cookie') ?? '')?.[1] ?? '';
  await post('/api/auth/refresh', null, { cookie: `berth_refresh=${cookie}` });
  const headers = { authorization: `Bearer ${jwt}` };
  await fetch(`${address}/api/containers?token=${made.token}`, { headers });
  return {
    'set-up code': running.setupCode ?? '',
    password,
    'wrong password': 'not the password',
    'login token': jwt,
    'API token': made.token,
    'second factor': mfa.secret,
    'waiting token': mfaToken,
    'refresh token': cookie,
    passcode: 'open sesame 42',
    'recovery code': used,
    'unused recovery code': unused,
  };
}

async function keepsSecrets(t: Test, scene: SetUpVisit, url: string): Promise<void> {
  const { running } = scene;
  const secrets = await secretsUsed(t, scene);
  await running.stop();
  // The set-up link is printed for the person who started the service, not logged.
  const log = running.output().replace(`#code=${running.setupCode}`, '');
  const stored = await everythingIn(url);
  t.match(log, 'request answered', 'the log is that talkative');
  t.match(stored, PERSON.email, 'the database was read');
  for (const [name, secret] of Object.entries(secrets)) {
    t.ok(secret.length > 5, `there is a ${name}`);
    for (const form of formsOf(secret)) {
      t.notOk(log.includes(form), `no ${name} in the log`);
      t.notOk(stored.includes(form), `no ${name} in the database`);
    }
  }
}
