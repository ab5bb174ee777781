import type { Me } from '../../api/types.ts';
import { path } from '../../lib/browser/router.ts';
import { me } from '../../state/profile.ts';
import { Loading } from '../../ui/section.tsx';
import { Audit } from '../audit/page.tsx';
import { NotFound } from '../not-found.tsx';
import { TabbedPage } from '../tabbed-page.tsx';
import { Limits } from './limits.tsx';
import { Passkeys } from './passkeys.tsx';
import { Profile } from './profile.tsx';
import { ProgramCopies } from './program-copies.tsx';
import { ScreenLock } from './screen-lock.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { SshKeys } from './ssh-keys.tsx';
import { Tokens } from './tokens.tsx';

const TABS = [
  { href: '/settings', label: 'Profile' },
  { href: '/settings/security', label: 'Security' },
  { href: '/settings/tokens', label: 'API tokens' },
  { href: '/settings/sessions', label: 'Sessions' },
  { href: '/settings/ssh-keys', label: 'SSH keys' },
  { href: '/settings/activity', label: 'Activity' },
] as const;

/** The user's own settings. */
export function SettingsPage() {
  const profile = me.value;
  if (!TABS.some(({ href }) => href === path.value)) return <NotFound />;
  return (
    <TabbedPage title="Settings" tabs={TABS}>
      {profile === null ? <Loading /> : <Part at={path.value} profile={profile} />}
    </TabbedPage>
  );
}

function Part({ at, profile }: { at: string; profile: Me }) {
  switch (at) {
    case '/settings/security':
      return (
        <>
          <SecondFactor />
          <Passkeys />
          <ScreenLock profile={profile} />
        </>
      );
    case '/settings/tokens':
      return <Tokens isAdmin={profile.role === 'admin'} />;
    case '/settings/sessions':
      return <Sessions />;
    case '/settings/ssh-keys':
      return <SshKeys />;
    case '/settings/activity':
      return <Audit of="own" title="Activity" lead="Every action in your name, and from where." />;
    default:
      return (
        <>
          <Profile profile={profile} />
          <ProgramCopies />
          <Limits profile={profile} />
        </>
      );
  }
}
