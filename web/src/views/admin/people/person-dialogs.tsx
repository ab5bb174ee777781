import { useState } from 'preact/hooks';
import { changeUser, makeResetLink, type UserChange } from '../../../api/identity/people.ts';
import type { ManagedUser } from '../../../api/types.ts';
import { TextField } from '../../../ui/fields/field.tsx';
import { chosenEnd, endToChange, hasEnded } from './account-end.ts';
import { ConfirmedDialog } from './confirmed-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { EndDialog } from './end-dialog.tsx';
import { EndField } from './end-field.tsx';
import { TierField } from './invite-dialog.tsx';
import type { PersonDialogProps } from './person-dialog-props.ts';
import type { PersonAct } from './person-row.tsx';

/** The question before an act on a user. */
export function PersonDialog({ act, ...props }: PersonDialogProps & { readonly act: PersonAct }) {
  switch (act) {
    case 'tier':
      return <TierDialog {...props} />;
    case 'role':
      return <RoleDialog {...props} />;
    case 'password':
    case 'second_factor':
      return <ResetDialog kind={act} {...props} />;
    case 'disable':
      return <DisableDialog {...props} />;
    case 'enable':
      return <EnableDialog {...props} />;
    case 'end':
      return <EndDialog {...props} />;
    case 'delete':
      return <DeleteDialog {...props} />;
  }
}

function TierDialog({ user, tiers, onChanged, onClose }: PersonDialogProps) {
  const [tier, setTier] = useState(user.tier);
  return (
    <ConfirmedDialog
      title={`Tier of ${user.username}`}
      action="Change tier"
      busy="Changing"
      fields={['tier']}
      work={(proof) => changeUser(user.id, { tier, ...proof })}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>Existing containers keep their limits.</p>
          <TierField value={tier} tiers={tiers} onInput={setTier} error={faults['tier']} />
        </>
      )}
    </ConfirmedDialog>
  );
}

/** An administrator's account has no end. */
const rightsOf = ({ role }: ManagedUser): UserChange =>
  role === 'admin' ? { role: 'user' } : { role: 'admin', ends_at: null };

function RoleDialog({ user, onChanged, onClose }: PersonDialogProps) {
  const isAdmin = user.role === 'admin';
  return (
    <ConfirmedDialog
      title={
        isAdmin
          ? `Remove administrator rights from ${user.username}?`
          : `Make ${user.username} an administrator?`
      }
      action={isAdmin ? 'Remove rights' : 'Make administrator'}
      busy="Changing"
      danger={isAdmin}
      work={(proof) => changeUser(user.id, { ...rightsOf(user), ...proof })}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {() => (
        <p>
          {isAdmin
            ? `${user.username} can no longer administer this server. Open invitations and reset links from ${user.username} stop working.`
            : `Administrators manage all people, all limits and this server, and can make others administrators.${
                user.ends_at === null ? '' : ' The end of this account is removed.'
              }`}
        </p>
      )}
    </ConfirmedDialog>
  );
}

const RESET = {
  password: {
    title: 'password',
    words: 'The link sets a new password, which you never see. It works once, for 24 hours.',
  },
  second_factor: {
    title: 'second factor',
    words:
      'The link asks for the password, then removes the authenticator app, recovery codes and passkeys. It works once, for 24 hours.',
  },
} as const;

function ResetDialog({
  kind,
  user,
  onMade,
  onClose,
}: PersonDialogProps & { readonly kind: keyof typeof RESET }) {
  const { title, words } = RESET[kind];
  return (
    <ConfirmedDialog
      title={`Reset the ${title} of ${user.username}?`}
      action="Create link"
      busy="Creating"
      work={(proof) => makeResetLink(user.id, kind, proof)}
      onDone={({ url }) => onMade({ title: 'Reset link', words: `Send this link to ${user.username}.`, url })}
      onClose={onClose}
    >
      {() => (
        <>
          <p>{words}</p>
          <p>
            Using it signs {user.username} out everywhere and revokes all API tokens. Until then, nothing
            changes.
          </p>
        </>
      )}
    </ConfirmedDialog>
  );
}

const REASON_INPUT = {
  name: 'disabled_reason',
  maxLength: 200,
  autocomplete: 'off',
  'data-autofocus': true,
} as const;

function DisableDialog({ user, onChanged, onClose }: PersonDialogProps) {
  const [reason, setReason] = useState('');
  const words = reason.trim() === '' ? {} : { disabled_reason: reason.trim() };
  return (
    <ConfirmedDialog
      title={`Disable ${user.username}?`}
      action="Disable"
      busy="Disabling"
      danger
      fields={['disabled_reason']}
      work={(proof) => changeUser(user.id, { disabled: true, ...words, ...proof })}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>
            They are signed out everywhere immediately, and API tokens stop working. Containers and files are
            kept. Enabling the account restores access.
          </p>
          <TextField
            label="Reason"
            value={reason}
            onInput={setReason}
            error={faults['disabled_reason']}
            hint="Optional. Shown at sign-in, after the right password."
            input={REASON_INPUT}
          />
        </>
      )}
    </ConfirmedDialog>
  );
}

/** An account that has ended needs another end. */
function EnableDialog({ user, onChanged, onClose }: PersonDialogProps) {
  const [choice, setChoice] = useState(endToChange(null));
  const needsEnd = hasEnded(user, new Date());
  const end = (): UserChange => (needsEnd ? { ends_at: chosenEnd(choice, 'ends_at') } : {});
  return (
    <ConfirmedDialog
      title={`Enable ${user.username}?`}
      action="Enable"
      busy="Enabling"
      fields={['ends_at']}
      work={async (proof) => changeUser(user.id, { disabled: false, ...end(), ...proof })}
      onDone={(after) => onChanged(after, user)}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <p>They can sign in again, and their API tokens work again.</p>
          {needsEnd && (
            <EndField name="ends_at" choice={choice} onChoice={setChoice} error={faults['ends_at']} />
          )}
        </>
      )}
    </ConfirmedDialog>
  );
}
