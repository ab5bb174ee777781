import { useId, useState } from 'preact/hooks';
import { type DeletionPlan, deleteUser } from '../../../api/identity/people.ts';
import { plural } from '../../../lib/format/format.ts';
import { ConfirmedDialog } from './confirmed-dialog.tsx';
import type { PersonDialogProps } from './person-dialog-props.ts';
import { PersonField, personCalled } from './person-field.tsx';

type Choice = NonNullable<DeletionPlan['containers']>;

/** Asks first what becomes of the containers. */
export function DeleteDialog({ user, onDeleted, onClose }: PersonDialogProps) {
  const [choice, setChoice] = useState<Choice>('delete');
  const [to, setTo] = useState('');
  const plan = async (): Promise<DeletionPlan> => {
    if (choice === 'transfer') return { containers: choice, to: (await personCalled(to)).id };
    return user.containers > 0 ? { containers: choice } : {};
  };
  return (
    <ConfirmedDialog
      title={`Delete ${user.username}?`}
      action="Delete"
      busy="Deleting"
      danger
      fields={['to']}
      work={async (proof) => deleteUser(user.id, { ...(await plan()), ...proof })}
      onDone={({ deleted }) => onDeleted(user, deleted)}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>
            The account, its keys, API tokens and recordings are deleted, and its agents are disconnected.
            This cannot be undone. The audit keeps the name.
          </p>
          {user.containers > 0 && (
            <ContainersChoice count={user.containers} choice={choice} onChoose={setChoice} />
          )}
          {choice === 'transfer' && (
            <PersonField
              label="New owner"
              value={to}
              onInput={setTo}
              isSuggested={({ id }) => id !== user.id}
              error={faults['to']}
              hint="A username. The containers count against this person's limits."
            />
          )}
        </>
      )}
    </ConfirmedDialog>
  );
}

type ContainersChoiceProps = {
  readonly count: number;
  readonly choice: Choice;
  readonly onChoose: (choice: Choice) => void;
};

const ContainersChoice = ({ count, choice, onChoose }: ContainersChoiceProps) => (
  <fieldset class="checks">
    <legend>{plural(count, 'container')}</legend>
    <Option
      label="Delete"
      hint="As usual: the files are kept for some days, then permanently deleted."
      checked={choice === 'delete'}
      onChoose={() => onChoose('delete')}
    />
    <Option
      label="Give to another person"
      hint="As they are, even while running. Shares end."
      checked={choice === 'transfer'}
      onChoose={() => onChoose('transfer')}
    />
  </fieldset>
);

type OptionProps = {
  readonly label: string;
  readonly hint: string;
  readonly checked: boolean;
  readonly onChoose: () => void;
};

function Option({ label, hint, checked, onChoose }: OptionProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="radio"
        name="containers"
        checked={checked}
        onChange={onChoose}
        aria-describedby={`${id}-note`}
      />
      <label for={id}>{label}</label>
      <p id={`${id}-note`} class="field-note">
        {hint}
      </p>
    </div>
  );
}
