import type { Page } from 'playwright-core';
import { CLOSE_CODES } from '../../../../src/protocol/close-codes.ts';
import { PROMPT, typeLine, waitForLine } from '../../../support/browser/page.ts';
import { inNewPane, openShop } from '../../../support/browser/shop.ts';
import { choosing, press, type Scene, seeing } from '../scene.ts';
import { done, type World } from '../world.ts';

const TERMINAL = /\/api\/containers\/[^/]+\/terminal/;

const of =
  (name: string) =>
  ({ ids }: World) =>
    `/containers/${ids[name]}`;

/** Ada's terminal once it has a prompt. */
const WEB_API = { route: of('web-api') } as const;
const open = (page: Page) => waitForLine(page, PROMPT);

/** Lets the terminal open, and then closes it as the service would. */
async function closedLater(page: Page): Promise<void> {
  await page.routeWebSocket(TERMINAL, (socket) => {
    socket.connectToServer();
    page.once('dialog', () => {});
    setTimeout(() => void socket.close({ code: CLOSE_CODES.replaced, reason: 'replaced' }), 3_000);
  });
}

const shareOf = (page: Page, mode: 'View' | 'Type') =>
  page.getByRole('dialog').locator('label', { hasText: mode }).first().click();

export const TERMINALS: readonly Scene[] = [
  {
    name: 'terminal',
    ...WEB_API,
    steps: openShop,
  },
  {
    name: 'terminal-panes',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      await page.keyboard.press('Control+Shift+E');
      await inNewPane(page, 'cd shop; clear; git show --color prices', /cents\(\)/);
    },
  },
  {
    name: 'terminal-menu',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await choosing('Terminal menu')(page);
    },
  },
  {
    name: 'terminal-search',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await page.keyboard.press('Control+Shift+F');
      await page.getByLabel('Search the output').fill('cart');
      await seeing(page, /^\d+ of \d+$/);
    },
  },
  {
    name: 'terminal-search-nothing',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await page.keyboard.press('Control+Shift+F');
      await page.getByLabel('Search the output').fill('nothing of the kind');
    },
  },
  { name: 'terminal-stopped', route: of('docs'), shows: 'docs is stopped' },
  { name: 'terminal-gone', route: of('old-site'), shows: 'This container is gone', expects: /404/ },
  {
    name: 'terminal-ended',
    who: 'root',
    route: async ({ calls: { root } }) => {
      const { containers } = await done(root('GET', '/api/containers?name=registry'));
      return `/containers/${(containers as readonly [{ db_id: string }])[0].db_id}`;
    },
    steps: async (page) => {
      await open(page);
      await typeLine(page, 'exit 3');
      await seeing(page, 'The shell has ended');
    },
  },
  {
    name: 'terminal-offline',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await page.context().setOffline(true);
      await seeing(page, 'You are offline');
    },
    expects: /ERR_INTERNET_DISCONNECTED|WebSocket/,
  },
  {
    name: 'terminal-lost',
    ...WEB_API,
    before: (page) =>
      page.routeWebSocket(TERMINAL, (socket) => void socket.close({ code: 1011, reason: 'test' })),
    steps: (page) => seeing(page, /Retrying in [3-9]/),
    expects: /426/,
  },
  {
    name: 'terminal-replaced',
    ...WEB_API,
    before: closedLater,
    steps: (page) => seeing(page, 'Open in another window'),
  },
  {
    name: 'share',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await press(page, 'Share this terminal');
      await seeing(page, 'Shared now');
    },
  },
  {
    name: 'share-link',
    ...WEB_API,
    steps: async (page) => {
      await open(page);
      await press(page, 'Share this terminal');
      await shareOf(page, 'View');
      await press(page, 'Create link');
      await page.locator('.token-secret').waitFor();
    },
  },
  { name: 'shared-with-me', who: 'bob', route: '/shared', shows: 'shared by ada' },
  { name: 'shared-with-me-empty', who: 'eve', route: '/shared', shows: 'Nothing is shared with you' },
  { name: 'shared-terminal', who: 'bob', ...WEB_API, steps: (page) => waitForLine(page, /ada@|root@/) },
  { name: 'join-refused', who: 'eve', route: '/join#code=spent', shows: 'no longer valid', expects: /404/ },
  { name: 'join-without-code', who: 'eve', route: '/join', shows: 'Open the link again' },
];
