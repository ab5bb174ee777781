import { useState } from 'preact/hooks';
import { deleteIdentity, goToProvider, listIdentities } from '../../../api/identity/account.ts';
import type { Identity } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { ago } from '../../../lib/format/format.ts';
import { authOptions } from '../../../session/actions.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Item, Items, Section } from '../../../ui/section.tsx';
import { useSubmit } from '../../auth/use-submit.ts';
import { Removal } from '../remove-dialog.tsx';
import { useConfirmation } from '../use-reauthentication.tsx';

const HERE = '/settings/security';

const factsOf = ({ issuer, created_at, last_used_at }: Identity): string =>
  [
    new URL(issuer).host,
    `connected ${ago(created_at, now.value)}`,
    last_used_at === null ? 'never used' : `used ${ago(last_used_at, now.value)}`,
  ].join(' · ');

const nameOf = ({ email, issuer }: Identity): string => email ?? new URL(issuer).host;

/** People at the OpenID provider that open this account. Not shown where no provider is set up. */
export function ConnectedSignIns() {
  const list = useLoaded(listIdentities);
  const options = useLoaded(authOptions);
  const [removed, setRemoved] = useState<Identity | null>(null);
  const { confirmed, dialog } = useConfirmation();
  const connecting = useSubmit(() => confirmed((proof) => goToProvider('link', proof, HERE)), []);
  const provider = options.value?.provider ?? null;
  if (provider === null && (list.value?.length ?? 0) === 0) return null;
  return (
    <Section
      title="Connected sign-ins"
      lead={`Sign in with ${provider ?? 'a provider'} instead of a password.`}
      action={
        provider !== null && (
          <Button
            icon="plus"
            onClick={() => void connecting.submit()}
            busy={connecting.busy && dialog === null ? 'Leaving this page' : undefined}
          >
            Connect {provider}
          </Button>
        )
      }
    >
      {connecting.failure !== null && <Problem failure={connecting.failure} />}
      <Items
        of={list}
        none="You have no connected sign-ins yet."
        row={(identity) => (
          <Item key={identity.id} title={nameOf(identity)} facts={factsOf(identity)}>
            <IconButton
              icon="trash"
              label={`Disconnect ${nameOf(identity)}`}
              onClick={() => setRemoved(identity)}
            />
          </Item>
        )}
      />
      {dialog}
      {removed !== null && (
        <Removal
          title={`Disconnect ${nameOf(removed)}?`}
          action="Disconnect"
          done="Sign-in disconnected"
          work={() => confirmed((proof) => deleteIdentity(removed.id, proof))}
          onDone={() => void list.reload()}
          onClose={() => setRemoved(null)}
        >
          <p>You can no longer sign in with it, and your other sessions end.</p>
        </Removal>
      )}
    </Section>
  );
}
