import type { CDPSession, Page } from 'playwright-core';
import t from 'tap';
import { openBrowser, openPage } from '../../support/browser/page.ts';
import { codeAt, STEP_MS } from '../../support/service/factors.ts';
import { aPerson, aService, as, person } from '../../support/service/service.ts';

/** What the page's script does with the options of the service, as any app would. */
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
  t.teardown(() => service.http.close());
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
