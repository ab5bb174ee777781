import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { violationsOf } from '../../../support/browser/axe.ts';
import { openBrowser } from '../../../support/browser/chromium.ts';
import { aPagedService, signedIn } from '../../../support/browser/memory-page.ts';
import { openPage } from '../../../support/browser/page.ts';
import { certifiedProvider } from '../../../support/openid/certified-provider.ts';
import { providerPort } from '../../../support/openid/sign-in.ts';
import { codeAt, enrol, from } from '../../../support/service/factors.ts';
import { anAdmin, aPerson, as } from '../../../support/service/service.ts';

async function signInThere(page: Page, name: string): Promise<void> {
  await page.fill('[name=login]', name);
  await page.fill('[name=password]', 'anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function signOutByKeys(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('Sign out');
  await page.keyboard.press('Enter');
}

/** A service that signs in by a provider; null without a browser. */
async function aScene(t: Test) {
  const browser = await openBrowser(t);
  if (browser === null) return null;
  const provider = await certifiedProvider(t);
  const allowedOrigins = new Set<string>();
  const ports = { openIdProvider: providerPort(provider) };
  const bound = await aPagedService(t, ports, { publicUrl: null, allowedOrigins });
  // The service names itself so, and the provider sends browsers there.
  const paged = { ...bound, address: bound.address.replace('127.0.0.1', 'localhost') };
  allowedOrigins.add(paged.address);
  provider.serve(paged.address);
  return { browser, provider, paged };
}

t.test('an invitation is accepted with the provider', async (t) => {
  const scene = await aScene(t);
  if (scene === null) return;
  const { browser, paged } = scene;
  const root = await anAdmin(paged.service);
  const invite = async (asked: object) => {
    const { url } = (await as(paged.service, root)('POST', '/api/admin/invitations', asked)).json();
    const { pathname, hash } = new URL(url);
    return `${paged.address}${pathname}${hash}`;
  };
  const { page, faults } = await openPage(browser);
  const onward = page.getByRole('button', { name: 'Continue with Example' });

  await page.goto(await invite({ email: 'zoe@example.org' }));
  await onward.waitFor();
  t.same(await violationsOf(page), []);
  await onward.click();
  await signInThere(page, 'grace');
  await page.getByText('This invitation is for another email address').waitFor();
  t.same(await violationsOf(page), []);
  await page.getByRole('button', { name: 'Back to the invitation' }).click();
  await page.getByRole('heading', { name: 'You are invited' }).waitFor();
  t.equal(await page.inputValue('[name=email]'), 'zoe@example.org', 'a password is still possible');

  const named = await invite({ username: 'countess' });
  await page.goto(named);
  await page.locator('[name=username][readonly]').waitFor();
  t.equal(await page.inputValue('[name=email]'), '', 'another link in the same tab counts');

  const other = await openPage(browser);
  await other.page.goto(named);
  await other.page.getByRole('button', { name: 'Continue with Example' }).click();
  await signInThere(other.page, 'grace');
  await other.page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  t.equal(other.page.url(), `${paged.address}/`);
  t.equal(await other.page.evaluate('sessionStorage.length'), 0, 'no code is left behind');
  t.same(
    [...faults, ...other.faults].filter((fault) => /^script|Content Security Policy/.test(fault)),
    [],
  );
});

t.test('connect, sign in by the provider, and leave when it signs out', async (t) => {
  const scene = await aScene(t);
  if (scene === null) return;
  const { browser, provider, paged } = scene;
  const ada = await aPerson(paged.service, 'ada');

  const { page, faults } = await signedIn(browser, paged, 'ada', '/settings/security');
  await page.getByRole('button', { name: 'Connect Example' }).click();
  await signInThere(page, 'ada');
  await page.getByText('ada@example.org').first().waitFor();
  t.equal(new URL(page.url()).pathname, '/settings/security');

  await signOutByKeys(page);
  const button = page.getByRole('button', { name: 'Sign in with Example' });
  await button.waitFor();
  await button.click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  t.equal(page.url(), `${paged.address}/settings/security`, 'where the sign-out was, and nothing behind it');

  const program = await from(paged.service)('/api/auth/device', { machine: 'ada@laptop' });
  const { secret } = await enrol(paged.service, ada);
  await signOutByKeys(page);
  await page.goto(`${paged.address}/device#code=${program.json().user_code}`);
  await button.click();
  await page.fill('[name=code]', codeAt(secret, paged.clock.now()));
  await page.keyboard.press('Enter');
  await page.getByText('ada@laptop').waitFor();
  t.equal(page.url(), `${paged.address}/device`, 'the second factor leads back, and the code was kept');
  t.equal(await page.evaluate('sessionStorage.length'), 0, 'in memory again');

  const there = await page.context().newPage();
  await there.goto(`${provider.issuer}/session/end`);
  await there.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.getByText('has ended your session there').waitFor();
  await button.click();
  await signInThere(page, 'eve');
  await page.getByText('You have no account here').waitFor();

  const bob = await aPerson(paged.service, 'bob');
  await as(paged.service, bob)('PATCH', '/api/me', { username: 'zoe' });
  await paged.service.ports.storage.repositories.settings.change({ oidcCreateAccounts: true });
  const newcomer = await openPage(browser);
  await newcomer.page.goto(`${paged.address}/sign-in`);
  await newcomer.page.getByRole('button', { name: 'Sign in with Example' }).click();
  await signInThere(newcomer.page, 'zoe');
  await newcomer.page.getByRole('heading', { name: 'Choose a username' }).waitFor();
  t.equal(await newcomer.page.inputValue('[name=username]'), 'zoe-2');
  await newcomer.page.fill('[name=username]', 'zoe');
  await newcomer.page.keyboard.press('Enter');
  await newcomer.page.getByText('This username is already in use').waitFor();
  await newcomer.page.keyboard.insertText('zoe-at-work');
  await newcomer.page.keyboard.press('Enter');
  await newcomer.page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  // The provider's own pages ask for a font and an icon.
  t.same(
    [...faults, ...newcomer.faults].filter((fault) => /^script|Content Security Policy/.test(fault)),
    [],
  );
});
