import type { ComponentChildren } from 'preact';
import type { User } from '../api/types.ts';
import { go } from '../lib/browser/router.ts';
import { signOut } from '../session/session.ts';
import { me } from '../state/profile.ts';
import { toastFailure } from '../state/toasts.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { HealthBanner } from './health-banner.tsx';
import { ReachBanner } from './reach-banner.tsx';
import { ThemeButton } from './theme-button.tsx';

type ShellProps = {
  readonly user: User;
  readonly onHelp: () => void;
  readonly onLock: () => void;
  readonly children: ComponentChildren;
};

function accountItems(user: User, onLock: () => void): readonly MenuItem[] {
  return [
    { label: 'Recordings', icon: 'record', onSelect: () => go('/recordings') },
    { label: 'Deleted containers', icon: 'trash', onSelect: () => go('/deleted') },
    { label: 'Settings', icon: 'gear', onSelect: () => go('/settings') },
    ...(user.role === 'admin'
      ? [{ label: 'Administration', icon: 'users', onSelect: () => go('/admin') } as const]
      : []),
    ...(me.value?.passcode_set
      ? [{ label: 'Lock now', icon: 'lock', keys: 'Shift L', onSelect: onLock } as const]
      : []),
    { label: 'Sign out', icon: 'leave', onSelect: () => void signOut().catch(toastFailure) },
  ];
}

/** The bar at the top and what stands below it. */
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
