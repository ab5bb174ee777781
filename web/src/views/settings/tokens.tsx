import { useState } from 'preact/hooks';
import { deleteToken, listTokens, revokeToken } from '../../api/account.ts';
import type { ApiToken, CreatedToken } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago, onDay } from '../../lib/format/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Item, Items, Section } from '../../ui/section.tsx';
import { useLoaded } from '../../ui/use-loaded.ts';
import { Removal } from './remove-dialog.tsx';
import { NewTokenDialog, TokenSecret } from './token-dialogs.tsx';

type TokenAction = { readonly what: 'revoke' | 'delete'; readonly token: ApiToken };

const isOver = ({ revoked_at, expires_at }: ApiToken): boolean =>
  revoked_at !== null || (expires_at !== null && new Date(expires_at) <= now.value);

function endOf({ revoked_at, expires_at }: ApiToken): string {
  if (revoked_at !== null) return `revoked ${ago(revoked_at, now.value)}`;
  if (expires_at === null) return 'does not expire';
  return `${new Date(expires_at) <= now.value ? 'expired' : 'expires'} on ${onDay(expires_at)}`;
}

const factsOf = (token: ApiToken): string =>
  [
    `${token.token_prefix}…`,
    token.scopes.join(', '),
    token.last_used_at === null ? 'never used' : `used ${ago(token.last_used_at, now.value)}`,
    endOf(token),
  ].join(' · ');

/** Credentials for scripts. */
export function Tokens({ isAdmin }: { isAdmin: boolean }) {
  const list = useLoaded(listTokens);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<CreatedToken | null>(null);
  const [action, setAction] = useState<TokenAction | null>(null);
  const reload = (): void => void list.reload();
  return (
    <Section
      title="API tokens"
      lead={
        <>
          For scripts and programs that act in your name. The{' '}
          <a href="/docs" target="_blank" rel="noreferrer">
            API reference
          </a>{' '}
          lists every call.
        </>
      }
      action={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New token
        </Button>
      }
    >
      <Items
        of={list}
        none="You have no API tokens yet."
        row={(token) => <TokenItem key={token.id} token={token} onAction={setAction} />}
      />
      {creating && (
        <NewTokenDialog
          isAdmin={isAdmin}
          onMade={(token) => {
            setMade(token);
            reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {made && <TokenSecret made={made} onClose={() => setMade(null)} />}
      {action && <ActionDialog action={action} onDone={reload} onClose={() => setAction(null)} />}
    </Section>
  );
}

function TokenItem({ token, onAction }: { token: ApiToken; onAction: (action: TokenAction) => void }) {
  return (
    <Item title={token.name} facts={factsOf(token)}>
      {!isOver(token) && <Button onClick={() => onAction({ what: 'revoke', token })}>Revoke</Button>}
      <IconButton
        icon="trash"
        label={`Delete ${token.name}`}
        onClick={() => onAction({ what: 'delete', token })}
      />
    </Item>
  );
}

type ActionDialogProps = {
  readonly action: TokenAction;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

function ActionDialog({ action: { what, token }, onDone, onClose }: ActionDialogProps) {
  const revoking = what === 'revoke';
  return (
    <Removal
      title={revoking ? `Revoke “${token.name}”?` : `Delete “${token.name}”?`}
      action={revoking ? 'Revoke' : 'Delete'}
      done={revoking ? 'Token revoked' : 'Token deleted'}
      work={() => (revoking ? revokeToken(token.id) : deleteToken(token.id))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Programs that use it are refused from now on.{' '}
        {revoking ? 'It stays in the list for reference.' : 'It is also removed from the list.'}
      </p>
    </Removal>
  );
}
