import type { User } from '../../api/types.ts';
import { type Theme, theme } from '../../lib/browser/preferences.ts';
import { signOut } from '../../session/session.ts';
import { me } from '../../state/profile.ts';
import { toastFailure } from '../../state/toasts.ts';
import type { IconName } from '../../ui/icon.tsx';
import { item, Menu, type MenuItem } from '../../ui/menu.tsx';

export const THEMES: readonly (readonly [value: Theme, label: string, icon: IconName])[] = [
  ['system', 'Same as system', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

const themeItems = (): readonly MenuItem[] =>
  THEMES.map(([value, label, icon]) =>
    item(
      icon,
      label,
      () => {
        theme.value = value;
      },
      { group: 'Theme', checked: theme.value === value },
    ),
  );

const accountItems = (onLock: () => void): readonly MenuItem[] => [
  ...themeItems(),
  ...(me.value?.passcode_set
    ? [item('lock', 'Lock now', onLock, { keys: 'Shift L', group: 'Session' })]
    : []),
  item('leave', 'Sign out', () => void signOut().catch(toastFailure), { group: 'Session' }),
];

export const AccountMenu = ({ user, onLock }: { user: User; onLock: () => void }) => (
  <Menu label={`Account of ${user.username}`} icon="user" text={user.username} items={accountItems(onLock)} />
);
