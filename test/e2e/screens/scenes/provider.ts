import type { Page } from 'playwright-core';
import { answering, press, type Scene, seeing } from '../scene.ts';
import { invitation } from './signed-out.ts';

const OPTIONS = /\/api\/auth\/options$/;
const FINISH = /\/api\/auth\/oidc\/finish$/;
const IDENTITIES = /\/api\/me\/identities$/;

const withProvider = (page: Page): Promise<void> =>
  answering(page, OPTIONS, (body) => ({ ...body, provider: 'Example' }));

const CONNECTED = {
  id: '00000000-0000-4000-8000-000000000001',
  issuer: 'https://sso.example.org/realms/berth',
  email: 'ada@example.org',
  created_at: new Date(Date.now() - 9 * 86_400_000).toISOString(),
  last_used_at: new Date(Date.now() - 7_200_000).toISOString(),
};

const connected =
  (...identities: readonly object[]): NonNullable<Scene['before']> =>
  async (page) => {
    await withProvider(page);
    await answering(page, IDENTITIES, () => ({ identities, next_cursor: null }));
  };

const SECURITY = { route: '/settings/security', shows: 'Connected sign-ins' } as const;

const refusedWith = (code: string, words: string): Scene => ({
  name: `provider-${code.replace(/^provider_/, '').replaceAll('_', '-')}`,
  who: 'nobody',
  route: `/sign-in/provider#refused=${code}`,
  before: withProvider,
  shows: words,
});

/** An answer of the provider that makes an account, whose name is taken. */
const namesNeeded =
  (suggestion: string | null): NonNullable<Scene['before']> =>
  async (page) => {
    await withProvider(page);
    await page.route(FINISH, (route, request) => {
      const { username } = request.postDataJSON() as { username?: string };
      const json =
        username === undefined
          ? { error: 'another name', code: 'provider_username_needed', suggestion }
          : { error: 'taken', code: 'validation_failed', fields: { username: 'is already in use' } };
      return route.fulfill({ status: 409, json });
    });
  };

const arrived = (purpose: string): string =>
  `/sign-in/provider#arrived=00000000-0000-4000-8000-000000000002&purpose=${purpose}&return=%2F`;
const ARRIVED = arrived('sign_in');

/** The account of that name has got a second factor since its name was asked for. */
const thenSecondFactor: NonNullable<Scene['before']> = async (page) => {
  await withProvider(page);
  await page.route(FINISH, (route, request) =>
    route.fulfill(
      (request.postDataJSON() as { username?: string }).username === undefined
        ? {
            status: 409,
            json: { error: 'another name', code: 'provider_username_needed', suggestion: 'ada-2' },
          }
        : { json: { mfa_required: true, mfa_token: 'waiting', methods: ['totp', 'passkey'] } },
    ),
  );
};

/** The provider's answer signs eve in. */
const signsIn: NonNullable<Scene['before']> = async (page, { address, password }) => {
  await withProvider(page);
  await page.route(FINISH, async (route) => {
    const postData = { email: 'eve', password };
    const response = await route.fetch({ url: `${address}/api/auth/login`, method: 'POST', postData });
    await route.fulfill({ response });
  });
};

async function toSection(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Connected sign-ins' }).scrollIntoViewIfNeeded();
}

/** Sign-in by an OpenID provider. */
export const PROVIDER: readonly Scene[] = [
  { name: 'provider-sign-in', who: 'nobody', route: '/sign-in', before: withProvider, shows: /with Example/ },
  refusedWith('provider_denied', 'Not signed in'),
  refusedWith('provider_unavailable', 'Not signed in'),
  refusedWith('provider_other_address', 'another email address'),
  {
    name: 'provider-username',
    who: 'nobody',
    route: ARRIVED,
    before: namesNeeded('ada-2'),
    shows: 'is taken here',
    expects: /409/,
  },
  {
    name: 'provider-username-taken',
    who: 'nobody',
    route: ARRIVED,
    before: namesNeeded(null),
    shows: 'cannot be used here',
    steps: async (page) => {
      await page.fill('[name=username]', 'ada');
      await page.keyboard.press('Enter');
      await seeing(page, 'is already in use');
    },
    expects: /409/,
  },
  {
    name: 'provider-second-factor',
    who: 'nobody',
    route: ARRIVED,
    before: thenSecondFactor,
    shows: 'is taken here',
    steps: async (page) => {
      await page.keyboard.press('Enter');
      await seeing(page, 'The provider knows you');
    },
    expects: /409/,
  },
  {
    name: 'provider-signed-in',
    who: 'nobody',
    route: arrived('invitation'),
    before: signsIn,
    shows: 'No containers yet',
  },
  {
    name: 'provider-invitation',
    who: 'nobody',
    route: invitation,
    before: withProvider,
    shows: 'Continue with Example',
  },
  {
    name: 'provider-confirmation-lost',
    who: 'eve',
    route: '/sign-in/provider#refused=provider_sign_in_expired',
    before: withProvider,
    shows: 'Nothing was changed',
  },
  { name: 'provider-connected', ...SECURITY, before: connected(CONNECTED), steps: toSection },
  { name: 'provider-not-connected', ...SECURITY, before: connected(), steps: toSection },
  {
    name: 'provider-disconnect',
    ...SECURITY,
    before: connected(CONNECTED),
    steps: async (page) => {
      await press(page, /^Disconnect/);
      await seeing(page.getByRole('dialog'), 'no longer opens');
    },
  },
];
