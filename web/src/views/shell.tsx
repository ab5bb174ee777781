import type { ComponentChildren } from 'preact';
import type { User } from '../api/types.ts';
import { signOut } from '../session/session.ts';
import { toastFailure } from '../state/toasts.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { HealthBanner } from './health-banner.tsx';
import { ThemeButton } from './theme-button.tsx';

type ShellProps = {
  readonly user: User;
  readonly onHelp: () => void;
  readonly children: ComponentChildren;
};

/** The bar at the top and what stands below it. */
export function Shell({ user, onHelp, children }: ShellProps) {
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
            items={[{ label: 'Sign out', icon: 'leave', onSelect: () => void signOut().catch(toastFailure) }]}
          />
        </div>
      </header>
      <HealthBanner />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
