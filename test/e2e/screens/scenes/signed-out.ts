import { answering, press, type Scene, seeing } from '../scene.ts';
import { done, type World } from '../world.ts';

const OPTIONS = /\/api\/auth\/options$/;

/** The link of the address in the service's answer, at the address of this page. */
const localLink = ({ address }: World, url: unknown): string => {
  const { pathname, hash } = new URL(String(url));
  return `${address}${pathname}${hash}`;
};

const resetOf = (kind: string, username: string) => async (world: World) => {
  const { root } = world.calls;
  const { users } = await done(root('GET', `/api/admin/users?search=${username}`));
  const [{ id }] = users as readonly [{ id: string }];
  const { url } = await done(root('POST', `/api/admin/users/${id}/reset-links`, { kind }));
  return localLink(world, url);
};

let invited = 0;
export const invitation = async (world: World): Promise<string> => {
  invited += 1;
  const body = { email: `new-${invited}@example.org`, role: 'user', tier: 'free' };
  return localLink(world, (await done(world.calls.root('POST', '/api/admin/invitations', body)))['url']);
};

const signIn = (who: string, password: string) => async (page: import('playwright-core').Page) => {
  await page.fill('[name=email]', who);
  await page.fill('[name=password]', password);
  await page.keyboard.press('Enter');
};

/** The code of a program that waits to be signed in. */
async function deviceCode(address: string): Promise<string> {
  const answer = await fetch(`${address}/api/auth/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'berth/1.0' },
    body: JSON.stringify({ machine: 'eve@laptop' }),
  });
  return ((await answer.json()) as { user_code: string }).user_code;
}

const closed = { open_registration: false, guests_enabled: false };

export const SIGNED_OUT: readonly Scene[] = (
  [
    { name: 'sign-in', route: '/sign-in', shows: 'Continue as a guest' },
    {
      name: 'sign-in-refused',
      route: '/sign-in',
      shows: 'Continue as a guest',
      steps: async (page) => {
        await signIn('ada', 'not the password')(page);
        await seeing(page, 'Wrong email, username or password');
      },
      expects: /401/,
    },
    {
      name: 'sign-in-before-set-up',
      route: '/sign-in',
      before: (page) => answering(page, OPTIONS, (body) => ({ ...body, ...closed, setup_required: true })),
      shows: 'has no account yet',
    },
    {
      name: 'sign-in-second-factor',
      route: '/sign-in',
      shows: 'Continue as a guest',
      steps: async (page, { password }) => {
        await signIn('mia', password)(page);
        await seeing(page, 'One more step');
      },
    },
    {
      name: 'sign-in-second-factor-refused',
      route: '/sign-in',
      shows: 'Continue as a guest',
      steps: async (page, { password }) => {
        await signIn('mia', password)(page);
        await page.fill('[name=code]', '000000');
        await page.keyboard.press('Enter');
        await seeing(page, 'not accepted');
      },
      expects: /401/,
    },
    { name: 'register', route: '/register', shows: 'Create account' },
    {
      name: 'register-refused',
      route: '/register',
      steps: async (page) => {
        await page.fill('[name=email]', 'ada@example.org');
        await page.fill('[name=username]', 'ada');
        await page.fill('[name=password]', 'short');
        await page.keyboard.press('Enter');
        await page.locator('.field-note.error').first().waitFor();
      },
      expects: /400|409/,
    },
    {
      name: 'register-closed',
      route: '/register',
      before: (page) => answering(page, OPTIONS, (body) => ({ ...body, ...closed })),
      shows: 'Registration is closed',
    },
    {
      name: 'set-up',
      route: '/setup',
      before: (page) => answering(page, OPTIONS, (body) => ({ ...body, ...closed, setup_required: true })),
      shows: 'Welcome',
    },
    { name: 'set-up-done', route: '/setup', shows: 'Already set up' },
    { name: 'invitation', route: invitation, shows: 'You are invited' },
    {
      name: 'invitation-refused',
      route: '/invite#code=spent',
      shows: 'This link is not valid',
      expects: /40[04]/,
    },
    {
      name: 'invitation-accepted',
      route: invitation,
      shows: 'You are invited',
      steps: async (page, { password }) => {
        await page.fill('[name=username]', `new-${invited}`);
        await page.fill('[name=password]', password);
        await page.keyboard.press('Enter');
        await seeing(page, 'No containers yet');
      },
    },
    { name: 'reset-password', route: resetOf('password', 'mia'), shows: 'Choose a password' },
    {
      name: 'reset-second-factor',
      route: resetOf('second_factor', 'mia'),
      shows: 'Remove the second factor',
    },
    {
      name: 'reset-done',
      route: resetOf('password', 'rae'),
      shows: 'Choose a password',
      steps: async (page, { password }) => {
        await page.fill('[name=password]', password);
        await page.keyboard.press('Enter');
        await seeing(page, 'rae@laptop');
      },
    },
    {
      name: 'api-reference',
      route: '/docs',
      shows: 'Self-hosted container workspaces',
      steps: async (page) => {
        await page.locator('.opblock-tag').first().waitFor();
      },
      isOfLibrary: true,
    },
    {
      name: 'api-reference-try',
      route: '/docs#/Containers/containers.list',
      shows: 'Self-hosted container workspaces',
      steps: async (page) => {
        await page.getByRole('button', { name: 'Try it out' }).first().click();
        await page.getByRole('button', { name: 'Execute' }).first().waitFor();
        await page.locator('.opblock.is-open').first().scrollIntoViewIfNeeded();
      },
      isOfLibrary: true,
    },
  ] satisfies readonly Scene[]
).map((scene) => ({ ...scene, who: 'nobody' }));

export const LINKS: readonly Scene[] = [
  { name: 'link-while-signed-in', who: 'eve', route: invitation, shows: 'Sign out first' },
  {
    name: 'device-code',
    who: 'eve',
    route: '/device',
    shows: 'Sign in a program',
  },
  {
    name: 'device-decide',
    who: 'eve',
    route: async ({ address }) => `/device#code=${await deviceCode(address)}`,
    shows: 'eve@laptop',
  },
  {
    name: 'device-approved',
    who: 'kim',
    route: '/device',
    steps: async (page, { address }) => {
      await page.fill('[name=user_code]', await deviceCode(address));
      await press(page, 'Continue');
      await press(page, 'Sign in the program');
      await seeing(page, 'The program is signed in');
    },
  },
  {
    name: 'device-refused',
    who: 'eve',
    route: '/device',
    steps: async (page) => {
      await page.fill('[name=user_code]', 'ABCD-EFGH');
      await press(page, 'Continue');
      await seeing(page, 'No program');
    },
    expects: /404/,
  },
];
