import { askingFrom, choosing, type Scene, seeing } from '../scene.ts';

/** The frame around all pages: menus, palette and help. */
export const FRAME: readonly Scene[] = [
  {
    name: 'palette',
    route: '/',
    shows: 'web-api',
    steps: async (page) => {
      await page.locator('.palette-button').click();
      await page.locator('.palette-option').first().waitFor();
    },
  },
  {
    name: 'palette-search',
    route: '/',
    shows: 'web-api',
    steps: async (page) => {
      await page.locator('.palette-button').click();
      await page.keyboard.type('web');
      await seeing(page, 'web-api · Settings…');
    },
  },
  {
    name: 'palette-nothing',
    route: '/',
    shows: 'web-api',
    steps: async (page) => {
      await page.locator('.palette-button').click();
      await page.keyboard.type('qqqqq');
      await page.locator('.palette-none').waitFor();
    },
  },
  {
    name: 'palette-administrator',
    who: 'root',
    route: '/',
    shows: 'registry',
    steps: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('adm');
      await seeing(page, 'Administration · People');
      await page.keyboard.press('ArrowDown');
    },
  },
  {
    name: 'palette-terminal',
    route: ({ ids }) => `/containers/${ids['docs']}`,
    shows: 'docs is stopped',
    steps: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('docs');
      await seeing(page, 'docs · Start');
    },
  },
  { name: 'menu-help', route: '/', shows: 'web-api', steps: choosing('Help') },
  { name: 'menu-account', route: '/', shows: 'web-api', steps: choosing(/^(Account of .*|ada)$/) },
  { name: 'shortcuts', route: '/', shows: 'web-api', steps: askingFrom('Help', 'Keyboard shortcuts') },
];
