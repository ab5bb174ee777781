import type { Page, Route } from 'playwright-core';
import { answering, choosing, press, type Scene, seeing } from '../scene.ts';
import { done, type World } from '../world.ts';

const LIST = /\/api\/containers\?(?!.*deleted)/;

/** Requests that never have an answer: what a slow network shows. */
const unanswered =
  (path: RegExp): NonNullable<Scene['before']> =>
  (page) =>
    page.route(path, () => {});

const failing =
  (path: RegExp): NonNullable<Scene['before']> =>
  (page) =>
    answering(page, path, () => ({ error: 'internal error', code: 'internal_error' }), 500);

const problem = (page: Page): Promise<void> => page.locator('.problem').first().waitFor();

/** Lists that load, and lists that cannot be loaded. */
export const LISTS: readonly Scene[] = [
  {
    name: 'loading-list',
    route: '/',
    before: unanswered(LIST),
    steps: (page) => page.locator('.skeleton').first().waitFor(),
  },
  {
    name: 'loading-tokens',
    route: '/settings/tokens',
    before: unanswered(/\/api\/tokens/),
    steps: (page) => page.locator('.waiting').first().waitFor(),
  },
  {
    name: 'failed-recordings',
    route: '/recordings',
    before: failing(/\/api\/recordings/),
    steps: problem,
    expects: /500/,
  },
  {
    name: 'failed-snapshots',
    route: '/snapshots',
    before: failing(/\/api\/snapshots/),
    steps: problem,
    expects: /500/,
  },
  {
    name: 'failed-deleted',
    route: '/deleted',
    before: failing(/deleted=true/),
    steps: problem,
    expects: /500/,
  },
  {
    name: 'failed-people',
    who: 'root',
    route: '/admin',
    before: failing(/\/api\/admin\/users/),
    steps: problem,
    expects: /500/,
  },
];

const refusingStart =
  (status: number, body: object): NonNullable<Scene['before']> =>
  (page) =>
    page.route(/\/start$/, (route: Route) => route.fulfill({ status, json: body }));

/** Messages at the edge of the page. */
export const TOASTS: readonly Scene[] = [
  {
    name: 'toast-copied',
    route: '/',
    shows: 'web-api',
    steps: async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await choosing('More for web-api', 'Copy name')(page);
      await seeing(page, 'Name copied');
    },
  },
  {
    name: 'toast-undo',
    route: '/',
    shows: 'docs',
    before: (page) =>
      page.route(/\/api\/containers\/[0-9a-f-]+$/, (route, request) =>
        request.method() === 'DELETE'
          ? route.fulfill({ json: { message: 'container deleted', id: '', db_id: '', name: 'docs' } })
          : route.continue(),
      ),
    steps: async (page) => {
      await choosing('More for docs', 'Delete…')(page);
      await press(page.getByRole('dialog'), /^Delete/);
      await seeing(page.locator('.toast'), /docs/);
    },
  },
  {
    name: 'toast-limit',
    route: '/',
    shows: 'docs',
    before: refusingStart(503, {
      error: 'the host is low on disk space: nothing new can be created',
      code: 'host_disk_short',
    }),
    steps: async (page) => {
      await press(page, 'Start');
      await page.locator('.toast').waitFor();
    },
    expects: /503/,
  },
];

/** People who are not, or no longer, users with an account. */
export const GUESTS: readonly Scene[] = [
  {
    name: 'guest',
    who: 'nobody',
    route: '/sign-in',
    shows: 'Continue as a guest',
    steps: async (page) => {
      await press(page, 'Continue as a guest');
      await page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
    },
  },
  {
    name: 'signed-out-elsewhere',
    who: 'nobody',
    route: '/sign-in',
    shows: 'Continue as a guest',
    steps: async (page, world: World) => {
      await page.fill('[name=email]', 'old');
      await page.fill('[name=password]', world.password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
      await done(world.calls.old('POST', '/api/sessions/revoke-others'));
      await seeing(page, 'You were signed out');
    },
    expects: /401|WebSocket/,
  },
];
