import type { ComponentChildren } from 'preact';
import type { User } from '../api/types.ts';
import { go } from '../lib/browser/router.ts';
import { signOut } from '../session/session.ts';
import { me } from '../state/profile.ts';
import { toastFailure } from '../state/toasts.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { item, Menu, type MenuItem } from '../ui/menu.tsx';
import { HealthBanner } from './health-banner.tsx';
import { ReachBanner } from './reach-banner.tsx';
import { ThemeButton } from './theme-button.tsx';

type ShellProps = {
  readonly user: User;
  readonly onHelp: () => void;
  readonly onLock: () => void;
  readonly children: ComponentChildren;
};

const accountItems = (user: User, onLock: () => void): readonly MenuItem[] => [
  item('record', 'Recordings', () => go('/recordings')),
  item('trash', 'Deleted containers', () => go('/deleted')),
  item('gear', 'Settings', () => go('/settings')),
  ...(user.role === 'admin' ? [item('users', 'Administration', () => go('/admin'))] : []),
  ...(me.value?.passcode_set ? [item('lock', 'Lock now', onLock, { keys: 'Shift L' })] : []),
  item('leave', 'Sign out', () => void signOut().catch(toastFailure)),
];

/** The bar at the top, banners and the page. */
export function Shell({ user, onHelp, onLock, children }: ShellProps) {
  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <header class="top-bar">
        <a class="brand" href="/" aria-label="Berth, all containers">
          <Icon name="anchor" size={20} />
          <span>Berth</span>
        </a>
        <div class="top-tools">
          <IconButton icon="keyboard" label="Keyboard shortcuts (?)" onClick={onHelp} />
          <ThemeButton />
          <Menu
            label={`Account of ${user.username}`}
            icon="user"
            text={user.username}
            items={accountItems(user, onLock)}
          />
        </div>
      </header>
      <ReachBanner />
      <HealthBanner />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
