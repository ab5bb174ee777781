import { useState } from 'preact/hooks';
import {
  addPasskey,
  deletePasskey,
  listPasskeys,
  passkeyOptions,
  renamePasskey,
} from '../../../api/identity/account.ts';
import type { Passkey } from '../../../api/types.ts';
import { localPasskeyAddress, makePasskey, passkeysPossible } from '../../../lib/browser/passkeys.ts';
import { now } from '../../../lib/clock.ts';
import { ago } from '../../../lib/format/format.ts';
import { browserOf } from '../../../lib/format/user-agent.ts';
import { toastOk } from '../../../state/toasts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Item, Items, Section } from '../../../ui/section.tsx';
import { useSubmit } from '../../auth/use-submit.ts';
import { Removal } from '../remove-dialog.tsx';
import { RenameDialog } from '../rename-dialog.tsx';
import { useConfirmation } from '../use-reauthentication.tsx';

type PasskeyAction = { readonly what: 'rename' | 'delete'; readonly passkey: Passkey };

const factsOf = ({ created_at, last_used_at, backed_up }: Passkey): string =>
  [
    `added ${ago(created_at, now.value)}`,
    last_used_at === null ? 'never used' : `used ${ago(last_used_at, now.value)}`,
    ...(backed_up ? ['synced'] : []),
  ].join(' · ');

const IMPOSSIBLE =
  'This browser cannot create a passkey at this address. Passkeys need HTTPS and a domain name.';

/** To the same page at an address that can have passkeys. */
function Elsewhere({ address }: { address: string }) {
  return (
    <>
      Open <a href={`${address}${location.pathname}`}>{address}</a> to use passkeys on this machine.
    </>
  );
}

export function Passkeys() {
  const list = useLoaded(listPasskeys);
  const [action, setAction] = useState<PasskeyAction | null>(null);
  const { confirmed, dialog } = useConfirmation();
  const adding = useSubmit(async () => {
    const options = await confirmed(passkeyOptions);
    const { name } = await addPasskey(await makePasskey(options), browserOf(navigator.userAgent));
    toastOk(`Passkey “${name}” added`);
    await list.reload();
  }, []);
  const possible = passkeysPossible();
  const local = localPasskeyAddress();
  return (
    <Section
      title="Passkeys"
      lead="Sign in with your device’s screen lock or a security key, without a password."
      action={
        possible && (
          <Button
            icon="plus"
            onClick={() => void adding.submit()}
            busy={adding.busy && dialog === null ? 'Adding' : undefined}
          >
            Add a passkey
          </Button>
        )
      }
    >
      {adding.failure !== null && <Problem failure={adding.failure} />}
      {!possible && <p class="none">{local === null ? IMPOSSIBLE : <Elsewhere address={local} />}</p>}
      {(possible || (list.value?.length ?? 0) > 0) && (
        <Items
          of={list}
          none="You have no passkeys yet."
          row={(passkey) => (
            <PasskeyItem key={passkey.id} passkey={passkey} onAct={(what) => setAction({ what, passkey })} />
          )}
        />
      )}
      {dialog}
      {action && (
        <ActionDialog
          action={action}
          confirmed={confirmed}
          onDone={() => void list.reload()}
          onClose={() => setAction(null)}
        />
      )}
    </Section>
  );
}

type PasskeyItemProps = {
  readonly passkey: Passkey;
  readonly onAct: (what: PasskeyAction['what']) => void;
};

function PasskeyItem({ passkey, onAct }: PasskeyItemProps) {
  return (
    <Item title={passkey.name} facts={factsOf(passkey)}>
      <IconButton icon="edit" label={`Rename ${passkey.name}`} onClick={() => onAct('rename')} />
      <IconButton icon="trash" label={`Delete ${passkey.name}`} onClick={() => onAct('delete')} />
    </Item>
  );
}

type ActionDialogProps = {
  readonly action: PasskeyAction;
  readonly confirmed: ReturnType<typeof useConfirmation>['confirmed'];
  readonly onDone: () => void;
  readonly onClose: () => void;
};

function ActionDialog({ action: { what, passkey }, confirmed, onDone, onClose }: ActionDialogProps) {
  if (what === 'rename') {
    return (
      <RenameDialog
        title="Rename the passkey"
        name={passkey.name}
        work={(name) => renamePasskey(passkey.id, name)}
        onDone={onDone}
        onClose={onClose}
      />
    );
  }
  return (
    <Removal
      title={`Delete the passkey “${passkey.name}”?`}
      action="Delete"
      done="Passkey deleted"
      work={() => confirmed((proof) => deletePasskey(passkey.id, proof))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        You can no longer sign in with it, and your other sessions end. Remove it from your device as well.
      </p>
    </Removal>
  );
}
