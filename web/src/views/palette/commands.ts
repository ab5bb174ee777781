import type { Container, User } from '../../api/types.ts';
import { compactRows, switchRows, theme } from '../../lib/browser/preferences.ts';
import { go, navigate } from '../../lib/browser/router.ts';
import { signOut } from '../../session/session.ts';
import { changes, start } from '../../state/containers.ts';
import { me } from '../../state/profile.ts';
import { toastFailure } from '../../state/toasts.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { MenuItem } from '../../ui/menu.tsx';
import { ADMIN_TABS } from '../admin/page.tsx';
import { agentItems, isAgent } from '../containers/agents/agent-row.tsx';
import { type RowProps, rowItems, terminalOf } from '../containers/list/row.tsx';
import { THEMES } from '../navigation/account-menu.tsx';
import { destinationsOf } from '../navigation/destinations.ts';
import { SETTINGS_TABS } from '../settings/page.tsx';
import type { Tab } from '../tabbed-page.tsx';

export type CommandGroup = 'Containers' | 'Pages' | 'Actions';

/** Something that the palette can do. */
export type Command = {
  readonly id: string;
  readonly group: CommandGroup;
  readonly label: string;
  /** Found by these too. */
  readonly words: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** Whether it is offered before anything is typed. */
  readonly isFirst: boolean;
  readonly run: () => void;
};

/** What only the host of the palette can open. */
export type PaletteHost = {
  readonly user: User;
  readonly onAction: RowProps['onAction'];
  readonly onCreate: () => void;
  readonly onAddAgent: () => void;
  readonly onHelp: () => void;
  readonly onLock: () => void;
};

type More = Partial<Pick<Command, 'words' | 'keys' | 'isFirst'>>;

const command = (
  group: CommandGroup,
  icon: IconName,
  label: string,
  run: () => void,
  { words = '', isFirst = true, keys }: More = {},
): Command => ({
  id: `${group}:${label}`,
  group,
  label,
  icon,
  run,
  words,
  isFirst,
  ...(keys !== undefined && { keys }),
});

/** Opening a container, and whatever its row offers. */
export function commandsOf(container: Container, onAction: RowProps['onAction']): readonly Command[] {
  const { db_id, name, status } = container;
  const isBusy = changes.value[db_id] !== undefined;
  const items = isAgent(container) ? agentItems(container, onAction) : rowItems(container, isBusy, onAction);
  const mayStart = ['stopped', 'failed'].includes(status) && !isBusy && !isAgent(container);
  const all = [
    command('Containers', 'terminal', name, () => navigate(terminalOf(container)), {
      words: 'open terminal',
    }),
    ...(mayStart && container.collaboration === undefined
      ? [command('Containers', 'play', `${name} · Start`, () => void start(container), { isFirst: false })]
      : []),
    ...items.filter(({ disabled }) => !disabled).map((item) => ofItem(name, item)),
  ];
  return all.map((one) => ({ ...one, id: `${db_id}:${one.label}` }));
}

const ofItem = (name: string, { icon, label, onSelect }: MenuItem): Command =>
  command('Containers', icon, `${name} · ${label}`, onSelect, { isFirst: false });

const tabCommands = (area: string, icon: IconName, tabs: readonly Tab[]): readonly Command[] =>
  tabs.map(({ href, label }) =>
    command('Pages', icon, `${area} · ${label}`, () => go(href), { words: 'go to', isFirst: false }),
  );

const isGuest = ({ email }: User): boolean => email === null;

/** Pages and actions that belong to no container. */
export const generalCommands = (host: PaletteHost): readonly Command[] => [
  command('Actions', 'plus', 'New container', host.onCreate, { keys: 'n', words: 'create' }),
  ...destinationsOf(host.user).map(({ icon, label, href }) =>
    command('Pages', icon, label, () => go(href), { words: 'go to' }),
  ),
  command('Pages', 'trash', 'Recently deleted', () => go('/deleted'), { words: 'restore go to' }),
  ...tabCommands('Settings', 'gear', SETTINGS_TABS),
  ...(host.user.role === 'admin' ? tabCommands('Administration', 'shield', ADMIN_TABS) : []),
  ...(isGuest(host.user)
    ? []
    : [command('Actions', 'link', 'Add an agent', host.onAddAgent, { words: 'machine', isFirst: false })]),
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
  command('Actions', 'keyboard', 'Keyboard shortcuts', host.onHelp, { keys: '?', words: 'help' }),
  command('Actions', 'code', 'API reference', () => void open('/docs', '_blank', 'noopener'), {
    words: 'help documentation',
    isFirst: false,
  }),
  ...(me.value?.passcode_set
    ? [command('Actions', 'lock', 'Lock now', host.onLock, { keys: 'Shift L', isFirst: false })]
    : []),
  command('Actions', 'leave', 'Sign out', () => void signOut().catch(toastFailure), { words: 'log out' }),
];
