import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import { aService, as, type Bearer, type ServiceOptions } from '../service/service.ts';
import { serverOf } from '../terminal/terminals.ts';
import { openBrowser } from './chromium.ts';
import { openPage } from './page.ts';

const MIB = 1_048_576;

/** The service over HTTP with its pages, all else in memory. Its clock is fixed at the browser's time. */
export async function aPagedService(t: Test, ports: Partial<Ports> = {}, options: ServiceOptions = {}) {
  const clock = fixedClock(new Date());
  const base = memoryPorts(clock);
  const { runtime } = base;
  const allowedOrigins = new Set<string>();
  const all = { ...base, ...ports };
  const service = await aService(all, { allowedOrigins, webRoot: path.resolve('web/dist'), ...options });
  const address = await serverOf(t, service);
  allowedOrigins.add(address);
  const firstBox = (id: string) => {
    const box = [...runtime.boxes.values()].find(({ spec }) => spec.dbId === id);
    if (box === undefined) throw new Error(`the engine has no container ${id}`);
    return box;
  };
  return {
    service,
    runtime,
    clock,
    address,
    /** Makes a container of that user. */
    async container(who: Bearer, name: string): Promise<string> {
      const made = await as(service, who)('POST', '/api/containers', { name, ...SMALL });
      if (made.statusCode !== 201)
        throw new Error(`a container was answered ${made.statusCode} ${made.body}`);
      return made.json().db_id;
    },
    /** A minute later the container uses this much outside its volume and in it, as measured. */
    async holds(id: string, layerMb: number, volumeMb = 0): Promise<void> {
      const { handle, spec } = firstBox(id);
      runtime.layers.set(handle.runtimeId, layerMb * MIB);
      const volume = runtime.volumes.get(spec.volume);
      if (volume !== undefined) volume.usedBytes = volumeMb * MIB;
      clock.advance(60_000);
      await service.measureDisks();
    },
  };
}

export type PagedService = Awaited<ReturnType<typeof aPagedService>>;

const SMALL = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

/** A page of a signed-in user, the list of containers unless told otherwise; all users have the same password. */
export async function signedIn(
  browser: Browser,
  { service, address }: PagedService,
  username: string,
  at = '/',
  options: BrowserContextOptions = {},
) {
  const credentials = { email: username, password: 'correct horse battery' };
  const { cookies } = await as(service, null)('POST', '/api/auth/login', credentials);
  const opened = await openPage(browser, options, { address, refreshToken: cookies[0]?.value ?? '' });
  await opened.page.goto(`${address}${at}`);
  if (at === '/') await opened.page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  return opened;
}

/** A browser and such a service; null without a browser. */
export async function aScene(
  t: Test,
  ports: Partial<Ports> = {},
): Promise<{ browser: Browser; paged: PagedService } | null> {
  const browser = await openBrowser(t);
  return browser === null ? null : { browser, paged: await aPagedService(t, ports) };
}

type Work = (t: Test, browser: Browser, paged: PagedService) => Promise<void>;

/** A test of such pages; skipped without a browser. */
export const test = (name: string, work: Work) =>
  t.test(name, async (t) => {
    const scene = await aScene(t);
    if (scene !== null) await work(t, scene.browser, scene.paged);
  });

/** The accessible name of the focused element. */
export const focusedName = (page: Page): Promise<string> => page.evaluate(NAME) as Promise<string>;

const NAME = `(({ activeElement: one }) =>
  one.getAttribute('aria-label') ?? one.labels?.[0]?.innerText ?? one.innerText ?? '')(document)`;

/** Presses Tab until the element of that name has the focus. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    const focused = await focusedName(page);
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${name}`);
}
