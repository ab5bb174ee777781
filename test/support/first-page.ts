import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { openBrowser } from './browser.ts';
import { fillPerson, openPage, PERSON } from './page.ts';
import { client, type Place, startService } from './running-service.ts';

export type Visit = {
  readonly address: string;
  readonly setUpLink: string;
  readonly page: Page;
  readonly faults: string[];
};

/** A fresh service at this place, and a browser on its set-up link; null when this machine cannot have them. */
export async function setUpPage(t: Test, place: Place | null): Promise<Visit | null> {
  const browser = await openBrowser(t);
  if (place === null || browser === null) return null;
  const { address, setupCode } = await startService(t, place);
  const { page, faults } = await openPage(browser);
  const setUpLink = `${address}/setup#code=${setupCode}`;
  await page.goto(setUpLink);
  return { address, setUpLink, page, faults };
}

/** Makes the first administrator, who comes to their empty list. */
export async function setUp(page: Page): Promise<void> {
  await fillPerson(page);
  await page.getByText('No containers yet').waitFor();
}

/** A fresh service at this place, and the page of its first administrator; null when this machine cannot have them. */
export async function firstPage(t: Test, place: Place | null): Promise<Visit | null> {
  const visit = await setUpPage(t, place);
  if (visit !== null) await setUp(visit.page);
  return visit;
}

/** Another session of who has the first page, for requests. */
export async function tokenOfPerson(address: string): Promise<string> {
  const { email, password } = PERSON;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  return body['token'] as string;
}
