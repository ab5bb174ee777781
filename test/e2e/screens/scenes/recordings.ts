import type { Page } from 'playwright-core';
import { PROMPT, typeUntilAnswered, waitForLine } from '../../../support/browser/page.ts';
import { asking, button, type Scene } from '../scene.ts';
import { done, type World } from '../world.ts';

const record = async (page: Page): Promise<void> => {
  await waitForLine(page, PROMPT);
  const start = button(page, 'Record this terminal');
  if ((await start.count()) > 0) await start.click();
  // The mark has no words on a phone.
  await button(page, 'Stop recording').waitFor();
  await typeUntilAnswered(page, 'uname -a', /^Linux/);
};

const LATEST = async ({ calls: { ada } }: World): Promise<string> => {
  const { recordings } = await done(ada('GET', '/api/recordings'));
  return `/recordings/${(recordings as readonly [{ id: string }])[0].id}`;
};

/** The first makes what the others show. */
export const RECORDINGS: readonly Scene[] = [
  { name: 'recording', route: ({ ids }) => `/containers/${ids['web-api']}`, steps: record },
  { name: 'recordings-in-progress', route: '/recordings', shows: 'web-api' },
  {
    name: 'recordings',
    route: '/recordings',
    shows: 'web-api',
    steps: async (page) => {
      const stop = page.getByRole('button', { name: 'Stop recording web-api' });
      if ((await stop.count()) > 0) await stop.first().click();
      await stop.first().waitFor({ state: 'detached' });
    },
  },
  { name: 'recordings-empty', who: 'eve', route: '/recordings', shows: 'No recordings yet' },
  {
    name: 'playback',
    route: LATEST,
    steps: (page) => page.locator('.ap-player, .ap-wrapper').first().waitFor(),
  },
  {
    name: 'playback-delete',
    route: LATEST,
    shows: 'Skip pauses',
    steps: asking('Delete'),
  },
  {
    name: 'playback-gone',
    route: '/recordings/00000000-0000-4000-8000-000000000000',
    steps: (page) => page.locator('.problem').waitFor(),
    expects: /404/,
  },
];
