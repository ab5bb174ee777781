import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { openBrowser } from './browser.ts';
import { fillPerson, openPage, PERSON } from './page.ts';
import { client, type Place, type Running, startService } from './running-service.ts';

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

/** Makes the first administrator, who comes to their empty list. */
export async function setUp(page: Page): Promise<void> {
  await fillPerson(page);
  await page.getByText('No containers yet').waitFor();
}

/** Requests of the first administrator. */
export async function asFirst(address: string): Promise<ReturnType<typeof client>> {
  const { email, password } = PERSON;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  return client(address, String(body['token']));
}
