import { run } from '../../../support/database/database.ts';
import { answering, asking, press, pressing, type Scene, seeing } from '../scene.ts';

/** Sessions of `old` seem an hour old, so that the service asks for a proof. */
const agedSession: Scene['before'] = (_page, { database }) =>
  run(
    database,
    "update sessions set created_at = created_at - interval '1 hour', signed_in_at = signed_in_at - interval '1 hour' where user_id = (select id from users where username = 'old') and created_at > now() - interval '30 min'",
  );

const CODES = Array.from({ length: 10 }, (_, at) => `k7pq-${1000 + at * 37}-w2xm`);
const PASSKEYS = {
  passkeys: [
    { name: 'Laptop', backed_up: false, last_used_at: null },
    { name: 'Phone', backed_up: true, last_used_at: new Date(Date.now() - 7_200_000).toISOString() },
  ].map((one, at) => ({ ...one, id: `${at}`, created_at: new Date(Date.now() - 86_400_000).toISOString() })),
};

const SECURITY = { route: '/settings/security', shows: 'Screen lock' } as const;
const TOKENS = { route: '/settings/tokens', shows: 'nightly build' } as const;

export const SETTINGS: readonly Scene[] = [
  { name: 'settings-profile', route: '/settings', shows: 'Your limits' },
  {
    name: 'settings-password-refused',
    who: 'eve',
    route: '/settings',
    shows: 'Your limits',
    steps: async (page) => {
      const fields = page.locator('input[type=password]');
      await fields.nth(0).fill('not the password');
      await fields.nth(1).fill('another good password');
      await fields.nth(1).press('Enter');
      await seeing(page, 'Wrong password');
    },
    expects: /403|401/,
  },
  { name: 'settings-security', ...SECURITY, steps: (page) => seeing(page, 'no passkeys yet') },
  {
    name: 'settings-security-set',
    who: 'lou',
    ...SECURITY,
    steps: (page) => seeing(page, 'no passkeys yet'),
  },
  {
    name: 'settings-passkeys',
    ...SECURITY,
    before: (page) => answering(page, /\/api\/me\/passkeys$/, () => PASSKEYS),
    steps: (page) => seeing(page, 'Laptop'),
  },
  {
    name: 'passkey-rename',
    ...SECURITY,
    before: (page) => answering(page, /\/api\/me\/passkeys$/, () => PASSKEYS),
    steps: pressing('Rename Laptop'),
  },
  {
    name: 'passkey-delete',
    ...SECURITY,
    before: (page) => answering(page, /\/api\/me\/passkeys$/, () => PASSKEYS),
    steps: pressing('Delete Laptop'),
  },
  {
    name: 'second-factor-proof',
    who: 'old',
    ...SECURITY,
    before: agedSession,
    expects: /403/,
    steps: async (page) => {
      await press(page, 'Set up');
      await seeing(page, /signed in a while ago/);
    },
  },
  {
    name: 'second-factor-set-up',
    who: 'kim',
    ...SECURITY,
    steps: async (page) => {
      await press(page, 'Set up');
      await page.locator('.qr').waitFor();
    },
  },
  {
    name: 'second-factor-set-up-refused',
    who: 'kim',
    ...SECURITY,
    steps: async (page) => {
      await press(page, 'Set up');
      await page.locator('.qr').waitFor();
      await page.fill('[name=code]', '000000');
      await page.keyboard.press('Enter');
      await seeing(page, 'Wrong code');
    },
    expects: /40[03]/,
  },
  {
    name: 'second-factor-on',
    who: 'eve',
    ...SECURITY,
    before: (page) => answering(page, /\/api\/me\/mfa$/, () => ({ enabled: true, recovery_codes_left: 9 })),
    steps: (page) => seeing(page, '9 recovery codes left'),
  },
  {
    name: 'second-factor-off',
    who: 'eve',
    ...SECURITY,
    before: (page) => answering(page, /\/api\/me\/mfa$/, () => ({ enabled: true, recovery_codes_left: 9 })),
    steps: asking('Turn off'),
  },
  {
    name: 'recovery-codes',
    who: 'eve',
    ...SECURITY,
    before: async (page) => {
      await answering(page, /\/api\/me\/mfa$/, () => ({ enabled: true, recovery_codes_left: 9 }));
      await answering(page, /\/recovery-codes$/, () => ({ recovery_codes: CODES }));
    },
    steps: async (page) => {
      await press(page, 'New recovery codes');
      await page.fill('[name=code]', '123456');
      await page.keyboard.press('Enter');
      await page.locator('.codes').waitFor();
    },
  },
  { name: 'tokens', ...TOKENS },
  { name: 'tokens-empty', who: 'eve', route: '/settings/tokens', shows: 'You have no API tokens yet' },
  { name: 'token-new', ...TOKENS, steps: asking('New token') },
  {
    name: 'token-new-administrator',
    who: 'root',
    route: '/settings/tokens',
    shows: 'no API tokens yet',
    steps: asking('New token'),
  },
  {
    name: 'token-made',
    who: 'bob',
    route: '/settings/tokens',
    shows: 'New token',
    before: (page) =>
      page.route(/\/api\/tokens$/, async (route, request) =>
        request.method() === 'POST'
          ? route.fulfill({
              status: 201,
              json: { id: '1', name: 'deploy', token: `svc_${'a1B2'.repeat(10)}`, scopes: ['read'] },
            })
          : route.continue(),
      ),
    steps: async (page) => {
      await press(page, 'New token');
      await page.getByRole('dialog').getByLabel('Name').fill('deploy');
      await press(page.getByRole('dialog'), 'Create token');
      await page.locator('.token-secret').waitFor();
    },
  },
  { name: 'token-narrower', ...TOKENS, steps: asking('Narrower token…') },
  { name: 'token-revoke', ...TOKENS, steps: asking('Revoke') },
  { name: 'token-delete', ...TOKENS, steps: asking('Delete deploy') },
  { name: 'sessions', route: '/settings/sessions', shows: 'this session' },
  {
    name: 'sessions-others',
    route: '/settings/sessions',
    shows: 'this session',
    steps: asking('Sign out all others'),
  },
  { name: 'ssh-keys', route: '/settings/ssh-keys', shows: 'ada@laptop' },
  { name: 'ssh-keys-empty', who: 'eve', route: '/settings/ssh-keys', shows: 'no SSH keys yet' },
  {
    name: 'ssh-key-add-refused',
    who: 'eve',
    route: '/settings/ssh-keys',
    shows: 'no SSH keys yet',
    steps: async (page) => {
      await press(page, 'Add a key');
      await page.fill('[name=public_key]', 'BEGIN OPENSSH PRIVATE KEY');
      await press(page.getByRole('dialog'), 'Add key');
      await page.locator('.field-note.error').first().waitFor();
    },
    expects: /400/,
  },
  {
    name: 'ssh-key-remove',
    route: '/settings/ssh-keys',
    shows: 'ada@laptop',
    steps: asking('Remove ada@laptop'),
  },
  {
    name: 'activity',
    route: '/settings/activity',
    steps: (page) => page.locator('tr.record').first().waitFor(),
  },
  {
    name: 'activity-record',
    route: '/settings/activity',
    steps: async (page) => {
      await page.locator('tr.record summary').first().click();
      await page.locator('details[open] pre').first().waitFor();
    },
  },
  {
    name: 'credentials',
    route: '/settings/credentials',
    shows: 'ada@laptop',
  },
  {
    name: 'credentials-incomplete',
    who: 'eve',
    route: '/settings/credentials',
    before: (page) =>
      answering(page, /\/api\/(me\/passkeys|tokens)/, () => ({ error: 'internal error' }), 500),
    shows: 'The list is not complete',
    expects: /500/,
  },
  {
    name: 'lock',
    who: 'lou',
    route: '/settings/sessions',
    shows: 'this session',
    steps: async (page) => {
      await page.getByRole('heading', { name: 'Settings' }).click();
      await page.keyboard.press('Shift+L');
      await page.getByRole('heading', { name: 'Locked' }).waitFor();
    },
  },
  {
    name: 'lock-refused',
    who: 'lou',
    route: '/settings/sessions',
    steps: async (page) => {
      // The session is still locked by the scene before, or is locked now.
      const locked = page.getByRole('heading', { name: 'Locked' });
      await locked.or(page.getByText('this session')).first().waitFor();
      if (!(await locked.isVisible())) {
        await page.getByRole('heading', { name: 'Settings' }).click();
        await page.keyboard.press('Shift+L');
        await locked.waitFor();
      }
      await page.fill('[name=passcode]', '1357');
      await page.keyboard.press('Enter');
      await page.locator('.field-note.error').waitFor();
    },
    expects: /403|423/,
  },
];
