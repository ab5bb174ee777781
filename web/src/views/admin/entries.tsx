import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  DEFAULT_ENTRIES,
  deleteEntry,
  type Entries,
  type EntryKind,
  listEntries,
} from '../../api/containers/catalogue.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../ui/section.tsx';
import { usePageRequest } from '../palette/page-requests.ts';
import { Removal } from '../settings/remove-dialog.tsx';

export type FormProps<T> = {
  /** The entry to change; null for a new one. */
  readonly before: T | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

type EntriesProps<K extends EntryKind> = {
  readonly kind: K;
  readonly title: string;
  readonly lead: string;
  readonly add: string;
  readonly keyOf: (entry: Entries[K]) => string;
  readonly labelOf: (entry: Entries[K]) => string;
  readonly facts: (entry: Entries[K]) => ComponentChildren;
  readonly form: (props: FormProps<Entries[K]>) => JSX.Element;
};

/** The catalogue's entries of one kind. */
export function EntriesPage<K extends EntryKind>(props: EntriesProps<K>) {
  const { kind, keyOf, labelOf, form: Form } = props;
  const list = useLoaded(() => listEntries(kind));
  const [editing, setEditing] = useState<Entries[K] | 'new' | null>(null);
  usePageRequest(kind, () => setEditing('new'));
  const [removing, setRemoving] = useState<Entries[K] | null>(null);
  const reload = (): void => void list.reload();
  const isDefault = (key: string): boolean => DEFAULT_ENTRIES[kind].includes(key);
  return (
    <Section
      title={props.title}
      lead={props.lead}
      action={
        <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
          {props.add}
        </Button>
      }
    >
      <Items
        of={list}
        none="None yet."
        row={(entry) => (
          <Item
            key={keyOf(entry)}
            title={<Name label={labelOf(entry)} isDefault={isDefault(keyOf(entry))} />}
            facts={props.facts(entry)}
          >
            <IconButton icon="edit" label={`Change ${labelOf(entry)}`} onClick={() => setEditing(entry)} />
            <IconButton
              icon="trash"
              label={`Delete ${labelOf(entry)}`}
              onClick={() => setRemoving(entry)}
              unavailable={isDefault(keyOf(entry)) ? 'Built in: change it instead of deleting it' : undefined}
            />
          </Item>
        )}
      />
      {editing !== null && (
        <Form
          before={editing === 'new' ? null : (editing as Entries[K])}
          onDone={reload}
          onClose={() => setEditing(null)}
        />
      )}
      {removing !== null && (
        <Removal
          title={`Delete “${labelOf(removing)}”?`}
          action="Delete"
          done={`${labelOf(removing)} deleted`}
          work={() => deleteEntry(kind, keyOf(removing))}
          onDone={reload}
          onClose={() => setRemoving(null)}
        >
          <p>It can no longer be chosen. An entry that is in use cannot be deleted.</p>
        </Removal>
      )}
    </Section>
  );
}

const Name = ({ label, isDefault }: { readonly label: string; readonly isDefault: boolean }) => (
  <>
    {label} {isDefault && <span class="tag">built in</span>}
  </>
);
