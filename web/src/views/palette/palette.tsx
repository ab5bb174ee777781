import type { ComponentChildren, RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownKeys } from '../../lib/browser/shortcut-keys.ts';
import { plural } from '../../lib/format/format.ts';
import { isBeside } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { type Command, commandsOf, deletedCommands } from './commands.ts';
import { generalCommands, type PaletteHost } from './general-commands.ts';
import { type Ranked, ranked } from './rank.ts';
import { useContainersFor, useDeletedContainers } from './use-containers.ts';

type PaletteProps = { readonly host: PaletteHost; readonly onClose: () => void };

/** Finds every action by its name: arrows move, Enter runs, Escape closes. */
export function Palette({ host, onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const containers = useContainersFor(text);
  const deleted = useDeletedContainers();
  const groups = ranked(
    [
      ...containers.flatMap((one) => commandsOf(one, host.onAction)),
      ...deleted.flatMap((one) => deletedCommands(one, host.onPurge)),
      ...generalCommands(host),
    ],
    text,
  );
  const all = groups.flatMap(({ commands }) => commands);
  const [chosen, setChosen] = useState<string | null>(null);
  const at = Math.max(
    0,
    all.findIndex(({ id }) => id === chosen),
  );
  const { dialog, close } = useModal();
  const run = ({ run }: Command): void => {
    // why: the focus returns first, so that the command can move it
    close();
    onClose();
    run();
  };
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % all.length,
    ArrowUp: (at - 1 + all.length) % all.length,
    PageDown: Math.min(all.length - 1, at + 8),
    PageUp: Math.max(0, at - 8),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const command = all[at];
    const to = moves[event.key];
    if (event.key === 'Enter' && command !== undefined) run(command);
    else if (to !== undefined && all.length > 0) setChosen(all[to]?.id ?? null);
    else return;
    event.preventDefault();
  };
  const onText = (now: string): void => {
    setText(now);
    setChosen(null);
  };
  return (
    <PaletteDialog dialog={dialog} onClose={onClose}>
      <Combobox
        text={text}
        onText={onText}
        onKeyDown={onKeyDown}
        groups={groups}
        current={all[at]}
        onRun={run}
      />
    </PaletteDialog>
  );
}

/** Shows the dialog, and returns the focus when it closes. */
function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  const before = useRef<Element | null>(null);
  const close = (): void => {
    if (!dialog.current?.open) return;
    dialog.current.close();
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
  };
  useLayoutEffect(() => {
    before.current = document.activeElement;
    dialog.current?.showModal();
    return close;
  }, []);
  return { dialog, close };
}

type DialogProps = {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** As `Dialog`, but the field is its head. */
function PaletteDialog({ dialog, onClose, children }: DialogProps) {
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Command palette"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (isBeside(event, dialog.current)) onClose();
      }}
    >
      {children}
    </dialog>
  );
}

type ComboboxProps = {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly groups: readonly Ranked[];
  readonly current: Command | undefined;
  readonly onRun: (command: Command) => void;
};

function Combobox({ text, onText, onKeyDown, groups, current, onRun }: ComboboxProps) {
  const id = useId();
  const idOf = (command: Command): string => `${id}-${command.id.replaceAll(/\W/g, '-')}`;
  const count = groups.reduce((sum, { commands }) => sum + commands.length, 0);
  useLayoutEffect(() => {
    if (current !== undefined) document.getElementById(idOf(current))?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);
  return (
    <>
      <div class="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search for a container, page or action"
          aria-expanded={count > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={current && idOf(current)}
          autocomplete="off"
          spellcheck={false}
          placeholder="Container, page or action"
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="palette-list" role="listbox" id={`${id}-list`} aria-label="Results" tabIndex={-1}>
        {groups.map(({ group, commands }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a list
          <div key={group} role="group" aria-label={group}>
            <div class="menu-heading" aria-hidden="true">
              {group}
            </div>
            {commands.map((command) => (
              <Option
                key={command.id}
                id={idOf(command)}
                command={command}
                isCurrent={command.id === current?.id}
                onRun={onRun}
              />
            ))}
          </div>
        ))}
      </div>
      <p class={count === 0 ? 'palette-none' : 'visually-hidden'} role="status">
        {count === 0 ? 'No results.' : plural(count, 'result')}
      </p>
    </>
  );
}

type OptionProps = {
  readonly id: string;
  readonly command: Command;
  readonly isCurrent: boolean;
  readonly onRun: (command: Command) => void;
};

const Option = ({ id, command, isCurrent, onRun }: OptionProps) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
  // biome-ignore lint/a11y/useFocusableInteractive: the field names it as its active descendant
  <div id={id} role="option" class="palette-option" aria-selected={isCurrent} onClick={() => onRun(command)}>
    <Icon name={command.icon} />
    <span>{command.label}</span>
    <Keys of={command} />
  </div>
);

function Keys({ of: { keys } }: { readonly of: Command }) {
  const shown = shownKeys(keys).join(' ');
  return shown === '' ? null : <kbd>{shown}</kbd>;
}
