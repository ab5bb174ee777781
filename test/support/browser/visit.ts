import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { client, type Place, type Running, startService } from '../process/running-service.ts';
import { type Member, register, type SharedService, sharedService } from '../process/shared-service.ts';
import { openBrowser, openPage, PERSON } from './page.ts';

export type SetUpVisit = {
  readonly running: Running;
  readonly address: string;
  readonly setUpLink: string;
  readonly page: Page;
  readonly faults: string[];
};

/** A fresh service at this place, and a browser on its set-up link; null when this machine cannot have them. */
export async function setUpPage(t: Test, place: Place | null): Promise<SetUpVisit | null> {
  const browser = await openBrowser(t);
  if (place === null || browser === null) return null;
  const running = await startService(t, place);
  const { address, setupCode } = running;
  const { page, faults } = await openPage(browser);
  const setUpLink = `${address}/setup#code=${setupCode}`;
  await page.goto(setUpLink);
  return { running, address, setUpLink, page, faults };
}

/** Requests of the first administrator. */
export async function asFirst(address: string): Promise<ReturnType<typeof client>> {
  const { email, password } = PERSON;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  return client(address, String(body['token']));
}

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
