import { answering, asking, askingFrom, choosing, press, type Scene } from '../scene.ts';

const LIST = { route: '/admin', shows: 'mia@example.org' } as const;

const person = (name: string, item: string | RegExp) => askingFrom(`More for ${name}`, item);

/** Mia's account is disabled, and its end has passed. */
const ended = ({ users, ...body }: Record<string, unknown>): object => {
  const at = new Date(Date.now() - 86_400_000).toISOString();
  const rows = (users as readonly { readonly username: string }[]).map((user) =>
    user.username === 'mia' ? { ...user, disabled_at: at, ends_at: at } : user,
  );
  return { ...body, users: rows };
};

/** Administration → People. */
export const PEOPLE: readonly Scene[] = (
  [
    { name: 'people', ...LIST },
    { name: 'people-menu', ...LIST, steps: choosing('More for mia') },
    {
      name: 'people-nobody',
      ...LIST,
      steps: async (page) => {
        await page.getByLabel('Search people').fill('nobody of this name');
        await page.locator('p.none').first().waitFor();
      },
    },
    { name: 'invite', ...LIST, steps: asking('Invite') },
    {
      name: 'invite-link',
      ...LIST,
      steps: async (page) => {
        await press(page, 'Invite');
        await press(page.getByRole('dialog'), 'Create link');
        await page.locator('.token-secret').waitFor();
      },
    },
    { name: 'person-tier', ...LIST, steps: person('mia', 'Change tier…') },
    { name: 'person-administrator', ...LIST, steps: person('mia', 'Make administrator…') },
    { name: 'person-no-administrator', ...LIST, steps: person('root', /Remove administrator/) },
    { name: 'person-reset-password', ...LIST, steps: person('mia', 'Reset password…') },
    { name: 'person-reset-second-factor', ...LIST, steps: person('mia', 'Reset second factor…') },
    { name: 'person-last-day', ...LIST, steps: person('mia', 'Last day…') },
    { name: 'person-disable', ...LIST, steps: person('mia', 'Disable…') },
    {
      name: 'person-enable',
      ...LIST,
      before: (page) => answering(page, /\/api\/admin\/users(\?|$)/, ended),
      steps: person('mia', /^Enable$/),
    },
    { name: 'person-delete', ...LIST, steps: person('ada', 'Delete…') },
  ] satisfies readonly Scene[]
).map((scene) => ({ ...scene, who: 'root' }));
