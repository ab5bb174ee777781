import type { Page } from 'playwright-core';
import { PROMPT, waitForLine } from '../../../support/browser/page.ts';
import { answering, asking, press, type Scene, seeing } from '../scene.ts';
import { done } from '../world.ts';

const entry = (
  tab: string,
  shows: string,
  label: string | RegExp,
): Pick<Scene, 'route' | 'shows' | 'steps'> => ({ route: `/admin/${tab}`, shows, steps: asking(label) });

const OPEN_TERMINALS = (['browser', 'command', 'ssh'] as const).map((client, at) => ({
  id: `${at}`,
  username: ['ada', 'bob', 'mia'][at],
  container_name: 'web-api',
  client,
  connection_id: at === 2 ? 'ssh' : 'main',
  mux_session: at === 0 ? 'main' : null,
  owner: at !== 1,
  ip_address: `192.0.2.${at + 7}`,
  viewers: at === 0 ? 1 : 0,
  created_at: new Date(Date.now() - (at + 1) * 1_300_000).toISOString(),
}));

const terminals: Pick<Scene, 'route' | 'before' | 'shows'> = {
  route: '/admin/terminals',
  before: (page) => answering(page, /\/api\/admin\/terminals$/, () => ({ terminals: OPEN_TERMINALS })),
  shows: '192.0.2.7',
};

const records = (page: Page): Promise<void> => page.locator('tr.record').first().waitFor();

const NOTICES = [
  { text: 'New images arrive on Monday: https://example.org/images', severity: 'info' },
  { text: 'The server restarts at 18:00. Terminals reconnect by themselves.', severity: 'warning' },
] as const;

/** What the last scenes show on every page. */
const announced: Scene['before'] = async (_page, { calls: { root } }) => {
  const { announcements } = await done(root('GET', '/api/admin/announcements'));
  if ((announcements as readonly unknown[]).length > 0) return;
  for (const notice of NOTICES) await done(root('POST', '/api/admin/announcements', notice));
};

export const ADMINISTRATION: readonly Scene[] = (
  [
    {
      name: 'open-terminals-live',
      route: async ({ open, ids, address }) => {
        // why: it is in the list while it is open
        const page = await open('ada', 'wide');
        await page.goto(`${address}/containers/${ids['web-api']}`);
        await waitForLine(page, PROMPT);
        return '/admin/terminals';
      },
      shows: 'Browser',
    },
    { name: 'open-terminals', ...terminals },
    {
      name: 'open-terminals-none',
      ...terminals,
      before: (page) => answering(page, /\/api\/admin\/terminals$/, () => ({ terminals: [] })),
      shows: 'No terminal is open',
    },
    { name: 'open-terminal-close', ...terminals, steps: asking(/^Close the terminal of bob/) },
    {
      name: 'capacity',
      route: '/admin/capacity',
      shows: 'Promised',
      steps: (page) => seeing(page, /^ada/),
    },
    {
      name: 'capacity-usage',
      route: '/admin/capacity',
      shows: 'Promised',
      steps: async (page) => {
        await seeing(page, /^ada/);
        await page.getByRole('heading', { name: 'Usage by person' }).scrollIntoViewIfNeeded();
        await page.mouse.wheel(0, 2_000);
      },
    },
    { name: 'tiers', route: '/admin/tiers', shows: 'enterprise' },
    { name: 'tier-new', ...entry('tiers', 'enterprise', /^Add/) },
    { name: 'tier-change', ...entry('tiers', 'enterprise', 'Change pro') },
    { name: 'tier-delete', ...entry('tiers', 'enterprise', 'Delete pro') },
    { name: 'images', route: '/admin/images', shows: 'debian' },
    { name: 'image-new', ...entry('images', 'debian', /^Add/) },
    { name: 'tools', route: '/admin/roles', shows: 'Broken tools' },
    { name: 'tools-new', ...entry('roles', 'Broken tools', /^Add/) },
    { name: 'tools-change', ...entry('roles', 'Broken tools', 'Change Broken tools') },
    {
      name: 'tools-delete-refused',
      route: '/admin/roles',
      shows: 'Broken tools',
      steps: async (page) => {
        await press(page, 'Delete Broken tools');
        await press(page.getByRole('dialog'), 'Delete');
        await seeing(page, 'still in use');
      },
      expects: /409/,
    },
    { name: 'audit', route: '/admin/audit', steps: records },
    {
      name: 'audit-nothing-found',
      route: '/admin/audit',
      steps: async (page) => {
        await records(page);
        await page.getByLabel('Who').fill('nobody of this name');
        await page.keyboard.press('Enter');
        await seeing(page, 'No matching records');
      },
    },
    { name: 'service-settings', route: '/admin/settings', shows: 'Guest access lasts' },
    {
      name: 'service-settings-refused',
      route: '/admin/settings',
      shows: 'Deleted containers',
      steps: async (page) => {
        await page.getByLabel('History is kept for').fill('3');
        await page.keyboard.press('Enter');
        await page.locator('.field-note.error').first().waitFor();
      },
      expects: /400/,
    },
    { name: 'announcements-empty', route: '/admin/announcements', shows: 'No announcements' },
    {
      name: 'announcement-new',
      route: '/admin/announcements',
      shows: 'No announcements',
      steps: asking(/^New announcement/),
    },
    { name: 'announcements', route: '/admin/announcements', before: announced, shows: 'Shown now' },
    {
      name: 'announcement-change',
      route: '/admin/announcements',
      before: announced,
      shows: 'Shown now',
      steps: asking(/^Change “The server/),
    },
    {
      name: 'announcement-delete',
      route: '/admin/announcements',
      before: announced,
      shows: 'Shown now',
      steps: asking(/^Delete “The server/),
    },
  ] satisfies readonly Scene[]
).map((scene) => ({ ...scene, who: 'root' }));

/** After all others: these notices are on every page. */
export const NOTICED: readonly Scene[] = [
  { name: 'announced', before: announced, route: '/', shows: 'The server restarts' },
  {
    name: 'announced-terminal',
    before: announced,
    route: ({ ids }) => `/containers/${ids['web-api']}`,
    steps: asking(/^Read/),
  },
];
