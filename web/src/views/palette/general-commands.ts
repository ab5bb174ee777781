import { getVersion } from '../../api/health.ts';
import type { Container, User } from '../../api/types.ts';
import { compactRows, switchRows, theme } from '../../lib/browser/preferences.ts';
import { go } from '../../lib/browser/router.ts';
import { signOut } from '../../session/session.ts';
import { me } from '../../state/profile.ts';
import { toastFailure } from '../../state/toasts.ts';
import type { IconName } from '../../ui/icon.tsx';
import { ADMIN_TABS } from '../admin/page.tsx';
import type { RowProps } from '../containers/list/row.tsx';
import { THEMES } from '../navigation/account-menu.tsx';
import { destinationsOf } from '../navigation/destinations.ts';
import { copyVersion, openGuide } from '../navigation/help-menu.tsx';
import { SETTINGS_TABS } from '../settings/page.tsx';
import type { Tab } from '../tabbed-page.tsx';
import { type Command, command } from './commands.ts';
import { terminalPageItems } from './page-items.ts';
import { openOnPage, type PageRequest } from './page-requests.ts';

/** What only the host of the palette can open. */
export type PaletteHost = {
  readonly user: User;
  readonly onAction: RowProps['onAction'];
  readonly onPurge: (container: Container) => void;
  readonly onCreate: () => void;
  readonly onAddAgent: () => void;
  readonly onHelp: () => void;
  readonly onLock: () => void;
};

const tabCommands = (area: string, icon: IconName, tabs: readonly Tab[]): readonly Command[] =>
  tabs.map(({ href, label }) =>
    command('Pages', icon, `${area} · ${label}`, () => go(href), { words: 'go to', isFirst: false }),
  );

type DialogCommand = readonly [icon: IconName, label: string, href: string, what: PageRequest, words: string];

const DIALOGS: readonly DialogCommand[] = [
  ['key', 'New API token', '/settings/tokens', 'token', 'create'],
  ['leave', 'Sign out all other sessions', '/settings/sessions', 'sign_out_others', 'log out everywhere'],
];
const ADMIN_DIALOGS: readonly DialogCommand[] = [
  ['users', 'Invite a person', '/admin', 'invitation', 'new user account invitation'],
  ['gear', 'Add a tier', '/admin/tiers', 'tiers', 'new limits'],
  ['box', 'Add an image', '/admin/images', 'images', 'new'],
  ['tools', 'Add a toolset', '/admin/roles', 'roles', 'new tools'],
  ['megaphone', 'New announcement', '/admin/announcements', 'announcement', 'create'],
];

const dialogCommands = (dialogs: readonly DialogCommand[]): readonly Command[] =>
  dialogs.map(([icon, label, href, what, words]) =>
    command('Actions', icon, label, () => openOnPage(href, what), { words, isFirst: false }),
  );

const isGuest = ({ email }: User): boolean => email === null;

const pages = ({ user }: PaletteHost): readonly Command[] => [
  ...destinationsOf(user).map(({ icon, label, href }) =>
    command('Pages', icon, label, () => go(href), { words: 'go to' }),
  ),
  command('Pages', 'trash', 'Recently deleted', () => go('/deleted'), { words: 'restore go to' }),
  ...tabCommands('Settings', 'gear', SETTINGS_TABS),
  ...(user.role === 'admin' ? tabCommands('Administration', 'shield', ADMIN_TABS) : []),
];

const ofTerminalPage = (): readonly Command[] =>
  terminalPageItems.value
    .filter(({ disabled }) => !disabled)
    .map(({ icon, label, onSelect, keys }) =>
      command('Terminal', icon, label, onSelect, keys === undefined ? {} : { keys }),
    );

const looks = (): readonly Command[] => [
  ...THEMES.map(([value, label, icon]) =>
    command(
      'Actions',
      icon,
      `Theme · ${label}`,
      () => {
        theme.value = value;
      },
      { words: 'colours', isFirst: false },
    ),
  ),
  command('Actions', 'rows', compactRows.value ? 'Taller rows' : 'Compact rows', switchRows, {
    keys: 'c',
    words: 'list density',
    isFirst: false,
  }),
];

const help = ({ onHelp }: PaletteHost): readonly Command[] => [
  command('Actions', 'keyboard', 'Keyboard shortcuts', onHelp, { keys: '?', words: 'help' }),
  command('Actions', 'help', 'Guide', openGuide, { words: 'help documentation manual', isFirst: false }),
  command('Actions', 'code', 'API reference', () => void open('/docs', '_blank', 'noopener'), {
    words: 'help documentation',
    isFirst: false,
  }),
  command('Actions', 'terminal', 'Command line', () => go('/settings/tokens'), {
    words: 'help cli install',
    isFirst: false,
  }),
  command('Actions', 'copy', 'Copy version', () => void getVersion().then(copyVersion, toastFailure), {
    words: 'help about',
    isFirst: false,
  }),
];

/** Pages and actions that belong to no container, and those of the terminal on the page. */
export const generalCommands = (host: PaletteHost): readonly Command[] => [
  ...ofTerminalPage(),
  command('Actions', 'plus', 'New container', host.onCreate, { keys: 'n', words: 'create' }),
  ...pages(host),
  ...dialogCommands(DIALOGS),
  ...(host.user.role === 'admin' ? dialogCommands(ADMIN_DIALOGS) : []),
  ...(isGuest(host.user)
    ? []
    : [command('Actions', 'link', 'Add an agent', host.onAddAgent, { words: 'machine', isFirst: false })]),
  ...looks(),
  ...help(host),
  ...(me.value?.passcode_set
    ? [command('Actions', 'lock', 'Lock now', host.onLock, { keys: 'Shift L', isFirst: false })]
    : []),
  command('Actions', 'leave', 'Sign out', () => void signOut().catch(toastFailure), { words: 'log out' }),
];
