import type { Page } from 'playwright-core';
import { answering, asking, askingFrom, button, choosing, press, type Scene, seeing } from '../scene.ts';

type Item = Record<string, unknown>;

const LIST = /\/api\/containers\?(?!.*deleted)/;
const STATES = ['creating', 'starting', 'running', 'stopping', 'stopped', 'updating', 'failed'];
const AGENT = {
  agent: { platform: 'linux x64', last_seen_at: new Date(Date.now() - 3_600_000).toISOString() },
  image: null,
};
/** Rows that are in one state by chance: what went wrong, and what runs out. */
const REASONS: Readonly<Record<string, object>> = {
  failed: { status_reason: 'the engine could not start it' },
  stopped: { status_reason: null },
};

/** A list with every state, a full disk, tools that install, a lifetime and two agents. */
function everyState({ containers, ...body }: Item): object {
  const [first] = containers as readonly [Item];
  const row = (name: string, over: object) => ({ ...first, name, ...over });
  const soon = new Date(Date.now() + 240_000).toISOString();
  const rows = [
    ...STATES.map((status) => row(`is-${status}`, { status, ...REASONS[status] })),
    row('tools-installing', { role_setup: { status: 'installing', detail: 'Unpacking nodejs' } }),
    row('disk-almost-full', { volume: { ...(first['volume'] as object), used_mb: 1990, size_mb: 2048 } }),
    row('stopped-for-space', {
      status: 'stopped',
      status_reason: 'over its limit outside /workspace: 2049 of 2048 MB',
      layer: { used_mb: 2049, limit_mb: 2048 },
    }),
    row('ends-soon', {
      lifetime: {
        ttl_seconds: 600,
        idle_seconds: null,
        next_end: { at: soon, action: 'delete', because: 'time' },
      },
    }),
    row('workshop', { ...AGENT, status: 'running' }),
    row('attic', { ...AGENT, status: 'stopped' }),
  ];
  const idOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  return { ...body, containers: rows.map((one, at) => ({ ...one, db_id: idOf(at) })), total: rows.length };
}

const dialogOf = (name: string, item: string, more?: (page: Page) => Promise<unknown>) =>
  askingFrom(`More for ${name}`, item, more);

const withEveryState: Pick<Scene, 'route' | 'before' | 'shows'> = {
  route: '/',
  before: (page) => answering(page, LIST, everyState),
  shows: 'is-creating',
};

const AT_THE_LIST = { route: '/', shows: 'web-api' } as const;

export const CONTAINERS: readonly Scene[] = [
  { name: 'list', ...AT_THE_LIST, steps: (page) => seeing(page, 'tools are missing') },
  { name: 'list-empty', who: 'eve', route: '/', shows: 'No containers yet' },
  { name: 'list-every-state', ...withEveryState, steps: (page) => seeing(page, 'is-failed') },
  {
    name: 'list-compact',
    ...withEveryState,
    steps: async (page) => {
      await page.keyboard.press('c');
      await page.locator('.rows.compact').waitFor();
      // The next scene has tall rows again.
      await page.evaluate("localStorage.removeItem('berth.rows')");
    },
  },
  {
    name: 'list-nothing-found',
    ...AT_THE_LIST,
    steps: async (page) => {
      await page.getByLabel('Filter containers').fill('billing');
      await seeing(page, 'No containers match');
    },
  },
  {
    name: 'list-failed',
    route: '/',
    before: (page) => answering(page, LIST, () => ({ error: 'internal error', code: 'internal_error' }), 500),
    shows: /Try again/,
    expects: /500/,
  },
  { name: 'row-menu', ...AT_THE_LIST, steps: choosing('More for web-api') },
  { name: 'agent-menu', ...withEveryState, steps: choosing('More for workshop') },
  {
    name: 'create',
    ...AT_THE_LIST,
    steps: async (page) => {
      await press(page, 'New container');
      await seeing(page, 'Medium');
    },
  },
  {
    name: 'create-custom-refused',
    ...AT_THE_LIST,
    steps: async (page) => {
      await press(page, 'New container');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Custom').click();
      await dialog.getByLabel('Name').fill('web-api');
      await dialog.getByLabel('Memory').fill('12');
      await press(dialog, 'Create');
      await page.locator('.field-note.error').first().waitFor();
    },
    expects: /400/,
  },
  {
    name: 'create-name-taken',
    ...AT_THE_LIST,
    steps: async (page) => {
      await press(page, 'New container');
      await seeing(page, 'Medium');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('web-api');
      await press(dialog, 'Create');
      await seeing(page, 'You already have');
    },
    expects: /409/,
  },
  { name: 'edit', ...AT_THE_LIST, steps: dialogOf('web-api', 'Settings…', (page) => seeing(page, 'Medium')) },
  {
    name: 'edit-resized',
    ...AT_THE_LIST,
    steps: dialogOf('web-api', 'Settings…', async (page) => {
      await page.getByRole('dialog').getByText('Largest').click();
      await seeing(page, /outside \/workspace|would be lost/);
      await seeing(page, /Nothing was installed|would be lost/);
    }),
  },
  { name: 'stop', ...AT_THE_LIST, steps: dialogOf('web-api', 'Stop…') },
  {
    name: 'delete',
    ...AT_THE_LIST,
    steps: dialogOf('web-api', 'Delete…', (page) => seeing(page, /kept for/)),
  },
  { name: 'disk-use', ...AT_THE_LIST, steps: dialogOf('web-api', 'Disk use…') },
  { name: 'disk-use-full', ...withEveryState, steps: dialogOf('stopped-for-space', 'Disk use…') },
  {
    name: 'tools-failed',
    ...AT_THE_LIST,
    steps: async (page) => {
      await press(page, /^Tools of data/);
      await seeing(page, 'no luck');
    },
  },
  { name: 'snapshot', ...AT_THE_LIST, steps: dialogOf('web-api', 'Snapshot…') },
  { name: 'fork', ...AT_THE_LIST, steps: dialogOf('web-api', 'Fork…') },
  {
    name: 'add-agent',
    ...AT_THE_LIST,
    steps: async (page) => {
      await press(page, 'Add an agent');
      await page.locator('.token-secret').nth(1).waitFor();
    },
  },
  { name: 'agent-disconnect', ...withEveryState, steps: dialogOf('workshop', 'Disconnect…') },
  { name: 'agent-delete', ...withEveryState, steps: dialogOf('workshop', 'Delete…') },
  { name: 'deleted', route: '/deleted', shows: 'old-site' },
  { name: 'deleted-empty', who: 'eve', route: '/deleted', shows: 'no deleted containers' },
  { name: 'purge', route: '/deleted', shows: 'old-site', steps: asking('Delete old-site permanently') },
  {
    name: 'purge-refused',
    route: '/deleted',
    shows: 'old-site',
    steps: async (page) => {
      await press(page, 'Delete old-site permanently');
      await page.getByRole('dialog').getByLabel(/^Type/).fill('old-sight');
      await button(page.getByRole('dialog'), 'Delete permanently').click();
      await seeing(page, 'not the name');
    },
    expects: /400/,
  },
  { name: 'snapshots', route: '/snapshots', shows: 'before the upgrade' },
  { name: 'snapshots-empty', who: 'eve', route: '/snapshots', shows: 'No snapshots yet' },
  { name: 'snapshot-use', route: '/snapshots', shows: 'base', steps: asking(/^New container/) },
  { name: 'snapshot-delete', route: '/snapshots', shows: 'base', steps: asking('Delete base') },
];
