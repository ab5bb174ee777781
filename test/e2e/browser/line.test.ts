import type { CDPSession, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openBrowser } from '../../support/browser/chromium.ts';
import { aPagedService, signedIn } from '../../support/browser/memory-page.ts';
import { openPage, PROMPT, waitForLine } from '../../support/browser/page.ts';
import { waitFor } from '../../support/patience.ts';
import { type SilencingProxy, silencingProxy } from '../../support/process/lines.ts';
import { codeAt, STEP_MS } from '../../support/service/factors.ts';
import { aPerson, aService, as, person } from '../../support/service/service.ts';
import { closeAtOnce } from '../../support/service/streams.ts';
import { type FakePty, fakeTerminals } from '../../support/terminal/terminals.ts';

type Visit = { readonly page: Page; readonly line: SilencingProxy; readonly pty: () => FakePty };

/** A terminal on a page whose connection can go dead; null where that is impossible. */
async function aTerminal(t: Test): Promise<Visit | null> {
  const line = await silencingProxy(t);
  const browser = await openBrowser(t);
  if (browser === null) return null;
  const terminals = fakeTerminals();
  const allowedOrigins = new Set([line.origin]);
  const paged = await aPagedService(t, { terminalBackend: terminals }, { allowedOrigins });
  line.leadTo(paged.address);
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-harbor');
  const { page } = await signedIn(browser, { ...paged, address: line.origin }, 'ada', `/containers/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await waitFor(() => terminals.opened.length === 1);
  const pty = (): FakePty => terminals.opened.at(-1) as FakePty;
  // Nothing is typed before the connection fails: unacknowledged input would count too.
  pty().say('# ');
  await waitForLine(page, PROMPT);
  await page.locator('.xterm-helper-textarea').focus();
  return { page, line, pty };
}

const shown = (page: Page, words: string | RegExp): Promise<void> => page.getByText(words).first().waitFor();

const status = (page: Page) => page.locator('.terminal-bar .status');

t.test('a dead connection is shown, and input meanwhile is counted and arrives', async (t) => {
  const visit = await aTerminal(t);
  if (visit === null) return;
  const { page, line, pty } = visit;
  const context = page.context();

  await t.test("the browser's offline event is shown", async (t) => {
    await context.setOffline(true);
    await shown(page, 'You are offline.');
    await page.keyboard.type('echo "=offline="');
    await shown(page, 'You are offline. Up to 16 characters will be sent when you are back.');
    t.match(await status(page).getAttribute('class'), /stale/, 'the state is not shown as if it were known');
    await context.setOffline(false);
    await waitFor(() => pty().typed() === 'echo "=offline="');
    await page.locator('.line-lost').waitFor({ state: 'detached' });
    await page.locator('.terminal-bar .status:not(.stale)').waitFor();
  });

  await t.test('silently dropped packets are noticed', async () => {
    line.fallSilent();
    await shown(page, 'Berth is not responding.');
    await page.keyboard.type('echo "=dead="');
    // With up to 16 earlier ones, whose acknowledgements may be lost.
    await shown(page, /Up to (1[3-9]|2\d) characters will be sent when it is back\./);
    line.recover();
    await page.locator('.line-lost').waitFor({ state: 'detached' });
    await page.keyboard.type('last');
    const what = () => `each once, in order: ${pty().typed()}`;
    await waitFor(() => pty().typed() === 'echo "=offline="echo "=dead="last', { what });
  });

  await t.test('the list shows a dead connection too', async (t) => {
    await page.getByRole('link', { name: 'All containers' }).click();
    await page.getByText('running', { exact: true }).waitFor();
    line.fallSilent();
    await shown(page, /^Berth is not responding/);
    t.match(await page.locator('.row .status').getAttribute('class'), /stale/);
    line.recover();
    await page.getByText(/^Berth is not responding/).waitFor({ state: 'detached' });
    await context.setOffline(true);
    await shown(page, /^You are offline/);
    let failed = 0;
    page.on('requestfailed', (request) => {
      if (request.url().includes('/api/containers?')) failed += 1;
    });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await waitFor(() => failed >= 2, { what: () => `the list is read, and read again: ${failed}` });
    t.equal(await page.locator('.problem').count(), 0, 'once, not again above the list');
    await context.setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: 'detached' });
  });
});

/** Calls the service's options from a script, as any page would. */
async function answerOf(page: Page, kind: 'create' | 'get', options: object): Promise<object> {
  const script = `(async () => {
    const json = ${JSON.stringify(options)};
    const publicKey = '${kind}' === 'create'
      ? PublicKeyCredential.parseCreationOptionsFromJSON(json)
      : PublicKeyCredential.parseRequestOptionsFromJSON(json);
    const credential = await navigator.credentials.${kind}({ publicKey });
    return credential.toJSON();
  })()`;
  return await page.evaluate(script);
}

async function withAuthenticator(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return devtools;
}

t.test('a browser registers a passkey, signs in with it alone, and as a second factor', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const service = await aService({ clock: { now: () => new Date() } }, { publicUrl: null });
  t.teardown(() => closeAtOnce(service.http));
  const address = (await service.http.listen({ host: '127.0.0.1', port: 0 })).replace(
    '127.0.0.1',
    'localhost',
  );
  const { page } = await openPage(browser);
  await page.goto(`${address}/api/version`);
  await withAuthenticator(page);
  const ada = await aPerson(service, 'ada');
  const [mine, nobody] = [as(service, ada), as(service, null)];

  const creation = (await mine('POST', '/api/me/passkeys/options')).json();
  const registered = await mine('POST', '/api/me/passkeys/verify', {
    name: 'Chromium',
    credential: await answerOf(page, 'create', creation),
  });
  t.match([registered.statusCode, registered.json()], [201, { name: 'Chromium' }]);

  const request = (await nobody('POST', '/api/auth/passkey/options')).json();
  const alone = await nobody('POST', '/api/auth/passkey/verify', {
    credential: await answerOf(page, 'get', request),
  });
  t.match([alone.statusCode, alone.json()], [200, { user: { id: ada.id } }]);

  const { secret } = (await mine('POST', '/api/me/mfa')).json();
  const code = codeAt(secret, new Date(Date.now() - STEP_MS / 2));
  t.equal((await mine('POST', '/api/me/mfa/confirm', { code })).statusCode, 200);
  const { email, password } = person('ada');
  const { mfa_token } = (await nobody('POST', '/api/auth/login', { email, password })).json();
  const second = (await nobody('POST', '/api/auth/mfa/options', { mfa_token })).json();
  const done = await nobody('POST', '/api/auth/mfa', {
    mfa_token,
    credential: await answerOf(page, 'get', second),
  });
  t.match([done.statusCode, done.json()], [200, { user: { id: ada.id } }]);

  const again = (await mine('POST', '/api/me/passkeys/options')).json();
  await t.rejects(answerOf(page, 'create', again), 'the authenticator that has one makes no second');
});
