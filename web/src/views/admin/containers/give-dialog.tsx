import { useEffect, useId, useState } from 'preact/hooks';
import { transferContainer } from '../../../api/admin.ts';
import type { Page } from '../../../api/calls.ts';
import { BerthError } from '../../../api/errors.ts';
import { listUsers } from '../../../api/identity/people.ts';
import type { Container, ManagedUser } from '../../../api/types.ts';
import { me } from '../../../state/profile.ts';
import { toastOk } from '../../../state/toasts.ts';
import { TextField, VERBATIM } from '../../../ui/fields/field.tsx';
import { ConfirmedDialog } from '../people/confirmed-dialog.tsx';
import type { ActDialogProps } from './act-dialog-props.ts';

const TO_INPUT = { ...VERBATIM, name: 'to', 'data-autofocus': true } as const;
/** After this pause in typing the service is asked. */
const PAUSE_MS = 150;

/** Gives a container to somebody else. */
export function GiveDialog({ container, onDone, onClose }: ActDialogProps) {
  const { db_id, owner } = container;
  const [to, setTo] = useState('');
  const [name, setName] = useState(container.name);
  const suggested = usePeople(to, container);
  const list = useId();
  return (
    <ConfirmedDialog
      title={`Give ${container.name} to…`}
      action="Give"
      busy="Giving"
      danger
      fields={['to', 'name']}
      work={async (proof) => {
        const receiver = await personCalled(to);
        const given = await transferContainer(db_id, { to: receiver.id, name, ...proof });
        return { receiver, given };
      }}
      onDone={({ receiver, given }) => {
        toastOk(`${given.name} belongs to ${receiver.username}`);
        onDone();
      }}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>
            The container is stopped and belongs to the other person from then on, with its files, installed
            software and environment variables. Shares end. Snapshots and recordings stay with{' '}
            {owner.username}.
          </p>
          <TextField
            label="New owner"
            value={to}
            onInput={setTo}
            error={faults['to']}
            hint="A username. The container counts against this person's limits."
            input={{ ...TO_INPUT, list }}
          />
          <datalist id={list}>
            {suggested.map(({ id, username, email }) => (
              <option key={id} value={username} label={email ?? ''} />
            ))}
          </datalist>
          <TextField
            label="Name"
            value={name}
            onInput={setName}
            error={faults['name']}
            hint="From then on."
            input={{ ...VERBATIM, name: 'name', maxLength: 64 }}
          />
        </>
      )}
    </ConfirmedDialog>
  );
}

/** People who may get it, by what was typed. */
function usePeople(text: string, { owner }: Container): readonly ManagedUser[] {
  const [people, setPeople] = useState<readonly ManagedUser[]>([]);
  useEffect(() => {
    let isOld = false;
    const read = async (): Promise<void> => {
      const { items } = await listUsers(text.trim())(null).catch(() => ({ items: [] }));
      if (!isOld) setPeople(items.filter(({ id }) => id !== owner.id && id !== me.value?.id).filter(mayOwn));
    };
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  return people;
}

const mayOwn = ({ disabled_at, email, being_deleted }: ManagedUser): boolean =>
  disabled_at === null && email !== null && !being_deleted;

/** The person with exactly that username or email address. */
async function personCalled(text: string): Promise<ManagedUser> {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') throw invalidReceiver('is required');
  // The search finds all names that contain the text, so the person may be on a later page.
  let cursor: string | null = null;
  do {
    const page: Page<ManagedUser> = await listUsers(wanted)(cursor);
    const person = page.items.find(
      ({ username, email }) => username.toLowerCase() === wanted || email?.toLowerCase() === wanted,
    );
    if (person !== undefined) return person;
    cursor = page.next;
  } while (cursor !== null);
  throw invalidReceiver('must be the name of a person here');
}

const invalidReceiver = (to: string): BerthError =>
  new BerthError(400, 'validation_failed', 'invalid request', { fields: { to } });
