import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownKeys } from '../lib/browser/shortcut-keys.ts';
import { Icon, type IconName } from './icon.tsx';
import { tooltip } from './tooltip.tsx';

const ENABLED = '[role^="menuitem"]:enabled';

export type MenuItem = {
  readonly label: string;
  readonly icon: IconName;
  readonly onSelect: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** Why it is disabled, below its label. */
  readonly reason?: string | undefined;
  readonly keys?: string;
  /** Whether this is the choice in force; absent where the item is no choice. */
  readonly checked?: boolean;
  /** Items in sequence with the same group have its name above them. */
  readonly group?: string;
};

type More = Pick<MenuItem, 'danger' | 'disabled' | 'reason' | 'keys' | 'checked' | 'group'>;

export const item = (icon: IconName, label: string, onSelect: () => void, more: More = {}): MenuItem => ({
  icon,
  label,
  onSelect,
  ...more,
});

type MenuProps = {
  readonly label: string;
  readonly icon: IconName;
  readonly items: readonly MenuItem[];
  readonly text?: string;
};

/** A button with a menu below it: arrows, Home and End move, Enter selects, Escape and a click elsewhere close. */
export function Menu({ label, icon, items, text }: MenuProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  // Before the next key arrives, which belongs to the menu.
  useLayoutEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>(ENABLED)?.focus();
    const onPress = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
    };
    document.addEventListener('pointerdown', onPress);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('pointerdown', onPress);
      document.removeEventListener('keydown', onKey);
    };
  }, [open]);
  const select = (item: MenuItem): void => {
    close();
    item.onSelect();
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={text === undefined ? 'icon-button' : 'button quiet'}
        aria-label={label}
        {...tooltip(label)}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} size={18} />
        {text !== undefined && <span class="menu-text">{text}</span>}
      </button>
      {open && <MenuList label={label} items={items} onSelect={select} onClose={close} />}
    </div>
  );
}

type ListProps = Pick<MenuProps, 'label' | 'items'> & {
  readonly onSelect: (item: MenuItem) => void;
  readonly onClose: () => void;
};

const EDGE_PX = 12;

/** Opens the list on the side of its button that has room for it, and lets it scroll where neither has. */
function useRoom(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = list.current;
    const button = element?.parentElement?.getBoundingClientRect();
    if (!element || button === undefined) return;
    const [above, below] = [button.top - EDGE_PX, innerHeight - button.bottom - EDGE_PX];
    const isAbove = element.offsetHeight > below && above > below;
    element.classList.toggle('above', isAbove);
    element.style.maxHeight = `${isAbove ? above : below}px`;
  }, []);
}

function MenuList({ label, items, onSelect, onClose }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  useRoom(list);
  const choices = (): readonly HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>(ENABLED) ?? []),
  ];
  const move = (by: number): void => {
    const all = choices();
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + by + all.length) % all.length]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Home') choices()[0]?.focus();
    else if (event.key === 'End') choices().at(-1)?.focus();
    else if (event.key === 'Tab') onClose();
    else return;
    event.preventDefault();
  };
  return (
    <div class="menu-list" role="menu" aria-label={label} tabIndex={-1} ref={list} onKeyDown={onKeyDown}>
      {groupsOf(items).map(({ name, members }) =>
        name === undefined ? (
          members.map((item) => <ItemButton key={item.label} item={item} onSelect={onSelect} />)
        ) : (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a menu
          <div key={name} role="group" aria-label={name} class="menu-group">
            <div class="menu-heading" aria-hidden="true">
              {name}
            </div>
            {members.map((item) => (
              <ItemButton key={item.label} item={item} onSelect={onSelect} />
            ))}
          </div>
        ),
      )}
    </div>
  );
}

type Group = { readonly name: string | undefined; readonly members: MenuItem[] };

function groupsOf(items: readonly MenuItem[]): readonly Group[] {
  const groups: Group[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last !== undefined && last.name === item.group) last.members.push(item);
    else groups.push({ name: item.group, members: [item] });
  }
  return groups;
}

type ItemProps = { readonly item: MenuItem; readonly onSelect: (item: MenuItem) => void };

function ItemButton({ item, onSelect }: ItemProps) {
  const keys = shownKeys(item.keys).join(' ');
  const isChoice = item.checked !== undefined;
  return (
    <button
      type="button"
      {...(isChoice ? { role: 'menuitemradio', 'aria-checked': item.checked } : { role: 'menuitem' })}
      tabIndex={-1}
      class={item.danger ? 'danger' : ''}
      disabled={item.disabled}
      onClick={() => onSelect(item)}
    >
      <Icon name={item.icon} />
      <span>
        {item.label}
        {item.disabled && item.reason && <small>{item.reason}</small>}
      </span>
      {keys && <kbd>{keys}</kbd>}
      {item.checked && <Icon name="check" />}
    </button>
  );
}
