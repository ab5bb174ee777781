import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { User } from '../api/types.ts';
import { shownKeys } from '../lib/browser/shortcut-keys.ts';
import { useFocusRecovery } from '../ui/hooks/use-focus-recovery.ts';
import { Icon } from '../ui/icon.tsx';
import { tooltip } from '../ui/tooltip.tsx';
import { HealthBanner } from './health-banner.tsx';
import { AccountMenu } from './navigation/account-menu.tsx';
import { HelpMenu } from './navigation/help-menu.tsx';
import { Navigation } from './navigation/navigation.tsx';
import { openPalette } from './palette/palette-host.tsx';
import { ReachBanner } from './reach-banner.tsx';
import { Announcements } from './service/announcements.tsx';

type ShellProps = {
  readonly user: User;
  readonly onHelp: () => void;
  readonly onLock: () => void;
  readonly children: ComponentChildren;
};

/** The bar at the top, the navigation, banners and the page. */
export function Shell({ user, onHelp, onLock, children }: ShellProps) {
  const main = useRef<HTMLElement>(null);
  useFocusRecovery(main);
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
        <button
          type="button"
          class="palette-button"
          {...tooltip('Search or run a command', 'Ctrl K')}
          aria-haspopup="dialog"
          onClick={openPalette}
        >
          <Icon name="search" />
          <span>Search or run a command</span>
          <kbd>{shownKeys('Ctrl K').join(' ')}</kbd>
        </button>
        <div class="top-tools">
          <HelpMenu onShortcuts={onHelp} />
          <AccountMenu user={user} onLock={onLock} />
        </div>
      </header>
      <Navigation user={user} />
      <ReachBanner />
      <HealthBanner />
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      <Announcements />
    </div>
  );
}
