import type { Page } from 'playwright-core';
import { answering, askingFrom, choosing, press, type Scene, seeing } from '../scene.ts';

const AT = { route: '/admin/containers', shows: 'registry' } as const;

const dialogOf = (item: string, more?: (page: Page) => Promise<unknown>) =>
  askingFrom('More for web-api of ada', item, more);

const showDeleted = async (page: Page): Promise<void> => {
  await page.getByLabel('State').selectOption('deleted');
  await seeing(page, 'old-site');
};

const LIST = /\/api\/admin\/containers\?/;

/** Many containers of people with long names. */
function many({ containers, ...body }: Record<string, unknown>): object {
  const [first] = containers as readonly [Record<string, unknown>];
  const rows = Array.from({ length: 40 }, (_, at) => ({
    ...first,
    db_id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    name: at === 1 ? 'a-container-with-a-name-that-is-as-long-as-sixty-four-characters' : `service-${at}`,
    owner: { id: `${at}`, username: at % 3 === 0 ? 'constantina.papadopoulou-alexopoulos' : `person-${at}` },
    status: at % 4 === 2 ? 'failed' : at % 3 === 1 ? 'stopped' : 'running',
    status_reason: at % 4 === 2 ? 'the engine could not start it' : null,
  }));
  return { ...body, containers: rows, total: rows.length, next_cursor: null };
}

/** Administration → Containers. */
export const ALL_CONTAINERS: readonly Scene[] = (
  [
    { name: 'all-containers', ...AT },
    {
      name: 'all-containers-many',
      ...AT,
      before: (page) => answering(page, LIST, many),
      shows: 'service-3',
    },
    { name: 'all-containers-menu', ...AT, steps: choosing('More for web-api of ada') },
    {
      name: 'all-containers-of-one',
      ...AT,
      steps: async (page) => {
        await choosing('More for web-api of ada', 'Only containers of ada')(page);
        await seeing(page, 'found');
      },
    },
    {
      name: 'all-containers-nothing-found',
      ...AT,
      steps: async (page) => {
        await page.getByLabel('Filter containers').fill('nothing of this name');
        await seeing(page, 'No containers match');
      },
    },
    { name: 'all-containers-deleted', ...AT, steps: showDeleted },
    {
      name: 'all-containers-restore',
      ...AT,
      steps: async (page) => {
        await showDeleted(page);
        await askingFrom('More for old-site of ada', 'Restore…')(page);
      },
    },
    { name: 'all-containers-stop', ...AT, steps: dialogOf('Stop…') },
    { name: 'all-containers-delete', ...AT, steps: dialogOf('Delete…') },
    { name: 'all-containers-give', ...AT, steps: dialogOf('Give to…') },
    {
      name: 'all-containers-give-refused',
      ...AT,
      steps: dialogOf('Give to…', async (page) => {
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('New owner').fill('nobody');
        await press(dialog, 'Give');
        await dialog.locator('.field-note.error').first().waitFor();
      }),
    },
  ] satisfies readonly Scene[]
).map((scene) => ({ ...scene, who: 'root' }));
