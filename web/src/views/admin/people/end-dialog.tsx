import { useState } from 'preact/hooks';
import type { Proof } from '../../../api/identity/account.ts';
import { changeUser } from '../../../api/identity/people.ts';
import type { ManagedUser } from '../../../api/types.ts';
import { endChange, endToChange } from './account-end.ts';
import { ConfirmedDialog } from './confirmed-dialog.tsx';
import { EndField } from './end-field.tsx';
import type { PersonDialogProps } from './person-dialog-props.ts';

/** Sets or removes the end of an account. */
export function EndDialog({ user, onChanged, onClose }: PersonDialogProps) {
  const [choice, setChoice] = useState(endToChange(user.ends_at));
  const save = async (proof: Proof): Promise<ManagedUser> => {
    const change = endChange(user.ends_at, choice);
    return change === null ? user : await changeUser(user.id, { ...change, ...proof });
  };
  return (
    <ConfirmedDialog
      title={`End of the account of ${user.username}`}
      action="Save"
      busy="Saving"
      fields={['ends_at']}
      work={save}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {(faults) => <EndField name="ends_at" choice={choice} onChoice={setChoice} error={faults['ends_at']} />}
    </ConfirmedDialog>
  );
}
