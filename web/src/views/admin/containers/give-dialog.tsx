import { useState } from 'preact/hooks';
import { transferContainer } from '../../../api/admin.ts';
import { me } from '../../../state/profile.ts';
import { toastOk } from '../../../state/toasts.ts';
import { TextField, VERBATIM } from '../../../ui/fields/field.tsx';
import { ConfirmedDialog } from '../people/confirmed-dialog.tsx';
import { PersonField, personCalled } from '../people/person-field.tsx';
import type { ActDialogProps } from './act-dialog-props.ts';

/** Gives a container to somebody else. */
export function GiveDialog({ container, onDone, onClose }: ActDialogProps) {
  const { db_id, owner } = container;
  const [to, setTo] = useState('');
  const [name, setName] = useState(container.name);
  return (
    <ConfirmedDialog
      title={`Give ${container.name} to another person`}
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
          <PersonField
            label="New owner"
            value={to}
            onInput={setTo}
            isSuggested={({ id }) => id !== owner.id && id !== me.value?.id}
            error={faults['to']}
            hint="A username. The container counts against this person's limits."
          />
          <TextField
            label="Name"
            value={name}
            onInput={setName}
            error={faults['name']}
            hint="What the container is called from then on."
            input={{ ...VERBATIM, name: 'name', maxLength: 64 }}
          />
        </>
      )}
    </ConfirmedDialog>
  );
}
