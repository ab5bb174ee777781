import type { Page } from 'playwright-core';
import { answering, press, type Scene, seeing } from '../scene.ts';

const OPTIONS = /\/api\/auth\/options$/;
const IDENTITIES = /\/api\/me\/identities$/;

const withProvider = (page: Page): Promise<void> =>
  answering(page, OPTIONS, (body) => ({ ...body, provider: 'Example' }));

const CONNECTED = {
  id: '00000000-0000-4000-8000-000000000001',
  ...{ issuer: 'https://sso.example.org/realms/berth', email: 'ada@example.org' },
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
  name: `provider-${code.replaceAll('_', '-')}`,
  who: 'nobody',
  route: `/sign-in/provider#refused=${code}`,
  before: withProvider,
  shows: words,
});

async function toSection(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Connected sign-ins' }).scrollIntoViewIfNeeded();
}

/** Sign-in by an OpenID provider. */
export const PROVIDER: readonly Scene[] = [
  { name: 'provider-sign-in', who: 'nobody', route: '/sign-in', before: withProvider, shows: /with Example/ },
  refusedWith('provider_denied', 'Not signed in'),
  refusedWith('provider_unavailable', 'Not signed in'),
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
