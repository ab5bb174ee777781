import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { waitFor } from '../patience.ts';
import {
  client,
  type Installation,
  type Member,
  type Running,
  register,
  type SharedService,
  sharedService,
  startService,
} from '../process/running-service.ts';
import { openBrowser } from './chromium.ts';

export const PERSON = { email: 'ada@example.org', username: 'ada', password: 'correct horse battery' };

const SCREEN_ROWS = '.xterm-rows > div';

/** A shell's prompt at the end of a line. */
export const PROMPT = /[#$] *$/;

/** A session of the service at that address. */
type Session = { readonly address: string; readonly refreshToken: string };

/** As the page itself notes that asking for a session is worth it. Storing it ahead would take a page of its own. */
const HINT = "if (location.protocol === 'http:') localStorage['berth.signed_in'] ??= 'yes'";

/** A new context, signed in if there is a session. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions,
  session?: Session,
): Promise<BrowserContext> {
  // Without a graphics processor each frame of an animation is costly.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  if (session === undefined) return context;
  await context.addCookies([cookieOf(session)]);
  await context.addInitScript(HINT);
  return context;
}

const cookieOf = ({ address, refreshToken }: Session) => ({
  name: 'berth_refresh',
  value: refreshToken,
  path: '/api/auth',
  domain: new URL(address).hostname,
  httpOnly: true,
  secure: false,
  sameSite: 'Strict' as const,
});

/** A new page, and everything that went wrong in it: script errors, policy violations, failed requests. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
  session?: Session,
): Promise<{ page: Page; faults: string[] }> {
  const viewport = { width: 1200, height: 720 };
  const context = await openContext(browser, { viewport, ...options }, session);
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  return { page, faults };
}

/** Fills in the account form by field names and submits it. */
export async function fillPerson(page: Page, person: Partial<typeof PERSON> = PERSON): Promise<void> {
  for (const [name, value] of Object.entries(person)) await page.fill(`[name=${name}]`, value);
  await page.keyboard.press('Enter');
}

/** Makes a container of this name by keyboard; its terminal opens by itself. */
export async function newContainer(page: Page, name: string): Promise<void> {
  await page.keyboard.press('n');
  await page.getByText('Medium').waitFor();
  await page.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
}

/** The focused field's name. */
export const focused = (page: Page): Promise<unknown> => page.evaluate('document.activeElement.name');

type InPage = { document: { querySelectorAll(selector: string): Iterable<{ textContent: string }> } };

/**
 * The lines of the chosen rows, without empty ones, once one matches or a second has passed; none during a reload. The
 * page itself asks: a question from here would wake four processes.
 */
export const linesOnceShown = (page: Page, rows: string, { source, flags }: RegExp): Promise<string[]> =>
  page
    .evaluate(
      async (wanted) => {
        const { document } = globalThis as unknown as InPage;
        const line = new RegExp(wanted.source, wanted.flags);
        for (let asked = 1; ; asked += 1) {
          const texts = Array.from(document.querySelectorAll(wanted.rows), (row) =>
            row.textContent.trimEnd(),
          );
          const lines = texts.filter((text) => text !== '');
          if (asked === 20 || lines.some((each) => line.test(each))) return lines;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      },
      { rows, source, flags },
    )
    .catch((error: unknown) => {
      if (`${error}`.includes('Execution context was destroyed')) return [];
      throw error;
    });

/** The terminal screen's lines, without empty ones; none during a reload. */
export const screenLines = (page: Page): Promise<string[]> => linesOnceShown(page, SCREEN_ROWS, /^/);

/** Waits until a line of the terminal matches. */
export async function waitForLine(page: Page, line: RegExp, patienceMs = 45_000): Promise<void> {
  let lines: string[] = [];
  const isThere = async (): Promise<boolean> => {
    lines = await linesOnceShown(page, SCREEN_ROWS, line);
    return lines.some((each) => line.test(each));
  };
  const what = (): string => `a line ${line} among:\n${lines.join('\n')}`;
  await waitFor(isThere, { patienceMs, everyMs: 50, what });
}

/** As from an on-screen keyboard, by line: single keys would be a hundred messages to the browser. */
export async function typeLine(page: Page, lines: string): Promise<void> {
  for (const line of lines.split('\n')) {
    await page.keyboard.insertText(line);
    await page.keyboard.press('Enter');
  }
}

/** Types a line into an opening shell, again if it was too early. */
export async function typeUntilAnswered(page: Page, text: string, answer: RegExp): Promise<void> {
  for (let tries = 1; ; tries++) {
    await typeLine(page, text);
    const missing = await waitForLine(page, answer, 5_000).catch((error: unknown) => error);
    if (missing === undefined) return;
    if (tries === 8) throw missing;
  }
}

export type SetUpVisit = {
  readonly running: Running;
  readonly address: string;
  readonly setUpLink: string;
  readonly page: Page;
  readonly faults: string[];
};

/** A new service of this installation, and a browser on its set-up link; null where that is impossible. */
export async function setUpPage(t: Test, installation: Installation | null): Promise<SetUpVisit | null> {
  const browser = await openBrowser(t);
  if (installation === null || browser === null) return null;
  const running = await startService(t, installation);
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

/** A signed-in page of a new user without containers, on the run's service; null when the test was skipped. */
export async function visit(t: Test, who: Parameters<typeof register>[1] = {}): Promise<Visit | null> {
  const service = await sharedService(t);
  const browser = service === null ? null : await openBrowser(t);
  if (service === null || browser === null) return null;
  return await visitOf(service, browser, await register(service, who));
}

/** The same for an existing user. */
export async function visitOf(service: SharedService, browser: Browser, person: Member): Promise<Visit> {
  const { address } = service;
  const { refreshToken } = person;
  const { page, faults } = await openPage(browser, {}, { address, refreshToken });
  return { service, address, person, call: client(address, person.token), page, faults };
}

/** Another session of the same user, for requests. */
export async function anotherSession({ address, person }: Visit): Promise<ReturnType<typeof client>> {
  const { email, password } = person;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  return client(address, String(body['token']));
}

/** Opens the list of containers, still empty. */
export async function atTheList({ address, page }: Visit): Promise<void> {
  await page.goto(address);
  await page.getByText('No containers yet').waitFor();
}
