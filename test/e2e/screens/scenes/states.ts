import type { Page } from 'playwright-core';
import { answering, press, type Scene, seeing } from '../scene.ts';
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

type Place = readonly [name: string, route: string, requests: RegExp, who?: 'root'];

/** Lists that never arrive, and what shows meanwhile. */
const LOADING: readonly Place[] = [
  ['list', '/', LIST],
  ['tokens', '/settings/tokens', /\/api\/tokens/],
  ['activity', '/settings/activity', /\/api\/(containers|audit)/],
  ['capacity', '/admin/capacity', /\/api\/admin\/(capacity|usage)/, 'root'],
  ['all-containers', '/admin/containers', /\/api\/admin\/containers/, 'root'],
];

/** Lists that cannot be loaded. */
const FAILED: readonly Place[] = [
  ['recordings', '/recordings', /\/api\/recordings/],
  ['snapshots', '/snapshots', /\/api\/snapshots/],
  ['deleted', '/deleted', /deleted=true/],
  ['shared', '/shared', /shared=true/],
  ['activity', '/settings/activity', /\/api\/audit/],
  ['sessions', '/settings/sessions', /\/api\/sessions/],
  ['people', '/admin', /\/api\/admin\/users/, 'root'],
  ['capacity', '/admin/capacity', /\/api\/admin\/(capacity|usage)/, 'root'],
  ['service-settings', '/admin/settings', /\/api\/admin\/settings/, 'root'],
  ['announcements', '/admin/announcements', /\/api\/admin\/announcements/, 'root'],
];

const WAITING = '.skeleton, .waiting, [aria-busy=true]';

export const LISTS: readonly Scene[] = [
  ...LOADING.map(
    ([name, route, path, who]): Scene => ({
      name: `loading-${name}`,
      route,
      before: unanswered(path),
      ...(who && { who }),
      steps: (page) => page.locator(WAITING).first().waitFor(),
    }),
  ),
  ...FAILED.map(
    ([name, route, path, who]): Scene => ({
      name: `failed-${name}`,
      route,
      before: failing(path),
      steps: problem,
      expects: /500/,
      ...(who && { who }),
    }),
  ),
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
