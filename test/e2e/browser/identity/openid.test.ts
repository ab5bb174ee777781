import type { Page } from 'playwright-core';
import t from 'tap';
import { violationsOf } from '../../../support/browser/axe.ts';
import { aPagedService, signedIn } from '../../../support/browser/memory-page.ts';
import { openBrowser, shootBoth } from '../../../support/browser/page.ts';
import { certifiedProvider } from '../../../support/openid/certified-provider.ts';
import { providerPort } from '../../../support/openid/sign-in.ts';
import { codeAt, enrol, from } from '../../../support/service/factors.ts';
import { aPerson } from '../../../support/service/service.ts';

t.setTimeout(120_000);

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

t.test('connect, sign in by the provider, and leave when it signs out', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const provider = await certifiedProvider(t);
  const allowedOrigins = new Set<string>();
  const ports = { openIdProvider: providerPort(provider) };
  const bound = await aPagedService(t, ports, { publicUrl: null, allowedOrigins });
  // The service names itself so, and the provider sends browsers there.
  const paged = { ...bound, address: bound.address.replace('127.0.0.1', 'localhost') };
  allowedOrigins.add(paged.address);
  provider.serve(paged.address);
  const ada = await aPerson(paged.service, 'ada');

  const { page, faults } = await signedIn(browser, paged, 'ada');
  await page.goto(`${paged.address}/settings/security`);
  await page.getByRole('button', { name: 'Connect Example' }).click();
  await signInThere(page, 'ada');
  await page.getByText('ada@example.org').first().waitFor();
  t.equal(new URL(page.url()).pathname, '/settings/security');
  await shootBoth(page, 'connected-sign-ins');
  t.same(await violationsOf(page), []);

  await signOutByKeys(page);
  const button = page.getByRole('button', { name: 'Sign in with Example' });
  await button.waitFor();
  await shootBoth(page, 'sign-in-with-provider');
  t.same(await violationsOf(page), []);
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
  await shootBoth(page, 'signed-out-by-provider');
  await button.click();
  await signInThere(page, 'eve');
  await page.getByText('You have no account here').waitFor();
  await shootBoth(page, 'no-account');
  t.same(await violationsOf(page), []);
  // The provider's own pages ask for a font and an icon.
  t.same(
    faults.filter((fault) => /^script|Content Security Policy/.test(fault)),
    [],
  );
});
