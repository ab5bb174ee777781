import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { openBrowser } from './browser.ts';
import { openPage } from './page.ts';
import { client } from './running-service.ts';
import { type Member, register, type SharedService, sharedService } from './shared-service.ts';

export type Visit = {
  readonly service: SharedService;
  readonly address: string;
  readonly person: Member;
  /** Requests in the session of the page. */
  readonly call: ReturnType<typeof client>;
  readonly page: Page;
  readonly faults: string[];
};

/** A page of someone new on the service of this run, signed in and still empty; null when the test was skipped. */
export async function visit(t: Test, who: Parameters<typeof register>[1] = {}): Promise<Visit | null> {
  const service = await sharedService(t);
  const browser = service === null ? null : await openBrowser(t);
  if (service === null || browser === null) return null;
  return await visitOf(service, browser, await register(service, who));
}

/** The same of someone who is there already. */
export async function visitOf(service: SharedService, browser: Browser, person: Member): Promise<Visit> {
  const { address } = service;
  const { page, faults } = await openPage(browser, { storageState: signedIn(address, person) });
  return { service, address, person, call: client(address, person.token), page, faults };
}

/** What a browser keeps of a session. */
const signedIn = (address: string, { refreshToken }: Member) => ({
  cookies: [
    {
      ...{ name: 'berth_refresh', value: refreshToken, path: '/api/auth' },
      ...{ domain: new URL(address).hostname, expires: -1 },
      ...{ httpOnly: true, secure: false, sameSite: 'Strict' as const },
    },
  ],
  origins: [{ origin: address, localStorage: [{ name: 'berth.signed_in', value: 'yes' }] }],
});

/** Another session of the same person, for requests. */
export async function anotherSession({ address, person }: Visit): Promise<ReturnType<typeof client>> {
  const { email, password } = person;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  return client(address, String(body['token']));
}

/** Opens the list of containers, with none in it yet. */
export async function atTheList({ address, page }: Visit): Promise<void> {
  await page.goto(address);
  await page.getByText('No containers yet').waitFor();
}
