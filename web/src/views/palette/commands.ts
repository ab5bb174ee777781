import type { Container } from '../../api/types.ts';
import { navigate } from '../../lib/browser/router.ts';
import { now } from '../../lib/clock.ts';
import { endWords } from '../../lib/format/lifetime.ts';
import { changes, restore, start } from '../../state/containers.ts';
import { keep } from '../../state/lifetime.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { MenuItem } from '../../ui/menu.tsx';
import { agentItems, isAgent } from '../containers/agents/agent-row.tsx';
import { type RowProps, rowItems, terminalOf } from '../containers/list/row.tsx';

export type CommandGroup = 'Containers' | 'Terminal' | 'Pages' | 'Actions';

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

type More = Partial<Pick<Command, 'words' | 'keys' | 'isFirst'>>;

export const command = (
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
    ...(container.collaboration === undefined && endWords(container, now.value) !== null
      ? [
          command('Containers', 'clock', `${name} · Keep 1 h`, () => void keep(container), {
            words: 'lifetime',
            isFirst: false,
          }),
        ]
      : []),
    ...items.filter(({ disabled }) => !disabled).map((item) => ofItem(name, item)),
  ];
  return all.map((one) => ({ ...one, id: `${db_id}:${one.label}` }));
}

const ofItem = (name: string, { icon, label, onSelect }: MenuItem): Command =>
  command('Containers', icon, `${name} · ${label}`, onSelect, { isFirst: false });

/** What can be done with a deleted container. */
export const deletedCommands = (
  container: Container,
  onPurge: (container: Container) => void,
): readonly Command[] => {
  const { db_id, name } = container;
  if (changes.value[db_id] !== undefined) return [];
  const more = { words: 'deleted', isFirst: false };
  return [
    command('Containers', 'box', `${name} · Restore`, () => void restore(container), more),
    command('Containers', 'trash', `${name} · Delete permanently…`, () => onPurge(container), more),
  ].map((one) => ({ ...one, id: `${db_id}:${one.label}` }));
};
