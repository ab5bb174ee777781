import type { JSX } from 'preact';
import type { Me } from '../../api/types.ts';
import { me } from '../../state/profile.ts';
import { Loading } from '../../ui/section.tsx';
import { Audit } from '../audit/page.tsx';
import { type Tab, TabbedPage } from '../tabbed-page.tsx';
import { CommandLine } from './command-line.tsx';
import { Limits } from './limits.tsx';
import { Profile } from './profile.tsx';
import { ScreenLock } from './screen-lock.tsx';
import { Passkeys } from './second-factor/passkeys.tsx';
import { SecondFactor } from './second-factor/second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { ConnectedSignIns } from './sign-ins/connected-sign-ins.tsx';
import { SshKeys } from './ssh-keys.tsx';
import { TerminalPreferences } from './terminal-preferences.tsx';
import { Tokens } from './tokens/tokens.tsx';

const withProfile = (content: (profile: Me) => JSX.Element) => () =>
  me.value === null ? <Loading /> : content(me.value);

export const SETTINGS_TABS: readonly Tab[] = [
  {
    href: '/settings',
    label: 'Profile',
    content: withProfile((profile) => (
      <>
        <Profile profile={profile} />
        <TerminalPreferences />
        <Limits profile={profile} />
      </>
    )),
  },
  {
    href: '/settings/security',
    label: 'Security',
    content: withProfile((profile) => (
      <>
        <SecondFactor />
        <Passkeys />
        <ConnectedSignIns />
        <ScreenLock profile={profile} />
      </>
    )),
  },
  {
    href: '/settings/tokens',
    label: 'API tokens',
    content: withProfile(({ role }) => (
      <>
        <CommandLine />
        <Tokens isAdmin={role === 'admin'} />
      </>
    )),
  },
  { href: '/settings/sessions', label: 'Sessions', content: withProfile(() => <Sessions />) },
  { href: '/settings/ssh-keys', label: 'SSH keys', content: withProfile(() => <SshKeys />) },
  {
    href: '/settings/activity',
    label: 'Activity',
    content: withProfile(() => (
      <Audit of="own" title="Activity" lead="Every action in your name, and from where." />
    )),
  },
];

/** The user's own settings. */
export const SettingsPage = () => <TabbedPage title="Settings" tabs={SETTINGS_TABS} />;
