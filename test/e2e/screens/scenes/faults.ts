import type { Route } from 'playwright-core';
import { answering, choosing, losable, press, type Scene, seeing } from '../scene.ts';

const engineDown = (words: object) => (body: Record<string, unknown>) => ({
  ...body,
  status: 'degraded',
  parts: { ...(body['parts'] as object), engine: { status: 'down', ...words } },
});

const EVENTS = losable(/\/api\/events/);

/** What the page says when the service or its engine fails. */
export const FAULTS: readonly Scene[] = [
  {
    name: 'banner-engine-for-administrators',
    who: 'root',
    route: '/',
    before: (page) =>
      answering(
        page,
        /\/readyz$/,
        engineDown({
          detail: 'Docker does not answer at /var/run/docker.sock',
          mend: 'start Docker (sudo systemctl start docker) and wait a few seconds',
        }),
      ),
    shows: 'The container engine is not running',
  },
  {
    name: 'banner-engine',
    route: '/',
    before: (page) => answering(page, /\/readyz$/, engineDown({})),
    shows: 'Containers cannot start at the moment',
  },
  {
    name: 'banner-unreachable',
    route: '/',
    before: EVENTS.before,
    shows: 'web-api',
    steps: async (page) => {
      await page.route(/\/(api\/|readyz)/, (route) => route.abort());
      EVENTS.lose(page);
      await seeing(page, /Berth is not responding/);
    },
    expects: /ERR_FAILED/,
  },
  {
    name: 'banner-offline',
    route: '/',
    shows: 'web-api',
    steps: async (page) => {
      await page.context().setOffline(true);
      await seeing(page, /^You are offline/);
    },
    expects: /ERR_INTERNET_DISCONNECTED|WebSocket/,
  },
  {
    name: 'toast-failure',
    route: '/',
    shows: 'docs',
    before: (page) =>
      page.route(/\/start$/, (route) =>
        route.fulfill({ status: 500, json: { error: 'failed to start container', code: 'internal_error' } }),
      ),
    steps: async (page) => {
      await press(page, 'Start');
      await page.locator('.toast').waitFor();
    },
    expects: /500/,
  },
  { name: 'not-found', route: '/nowhere', shows: 'Page not found' },
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
    name: 'toast-restored',
    route: '/deleted',
    shows: 'old-site',
    before: (page) =>
      page.route(/\/restore$/, (route) => route.fulfill({ json: { message: 'container restored' } })),
    steps: async (page) => {
      await press(page, /^Restore/);
      await page.locator('.toast').waitFor();
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
