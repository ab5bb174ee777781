import { useState } from 'preact/hooks';
import { type InTree, tokenTree } from '../../../../../src/client/token-tree.ts';
import { listContainers } from '../../../api/containers/containers.ts';
import { deleteToken, listTokens, revokeToken } from '../../../api/identity/account.ts';
import type { ApiToken, CreatedToken } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { mayHaveChildren, tokenFacts, tokenIsOver } from '../../../lib/format/token-facts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../../ui/section.tsx';
import { usePageRequest } from '../../palette/page-requests.ts';
import { Removal } from '../remove-dialog.tsx';
import { NarrowerTokenDialog } from './narrower-token-dialog.tsx';
import { NewTokenDialog, TokenSecret } from './token-dialogs.tsx';

type TokenAction = { readonly what: 'revoke' | 'delete'; readonly token: ApiToken };

/** The tokens as a tree, and the names of the containers that some are for. */
async function loadTokens() {
  const [tokens, containers] = await Promise.all([listTokens(), listContainers()]);
  const names = new Map(containers.map(({ db_id, name }) => [db_id, name]));
  return tokenTree(tokens).map((row) => ({ ...row, names }));
}

/** Credentials for scripts. */
export function Tokens({ isAdmin }: { isAdmin: boolean }) {
  const list = useLoaded(loadTokens);
  const [creating, setCreating] = useState(false);
  usePageRequest('token', () => setCreating(true));
  const [made, setMade] = useState<CreatedToken | null>(null);
  const [action, setAction] = useState<TokenAction | null>(null);
  const [parent, setParent] = useState<TokenRow | null>(null);
  const reload = (): void => void list.reload();
  const onMade = (token: CreatedToken): void => {
    setMade(token);
    reload();
  };
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
        row={(row) => (
          <TokenItem key={row.token.id} {...row} onAction={setAction} onNarrow={() => setParent(row)} />
        )}
      />
      {creating && <NewTokenDialog isAdmin={isAdmin} onMade={onMade} onClose={() => setCreating(false)} />}
      {parent && (
        <NarrowerTokenDialog
          parent={parent.token}
          names={parent.names}
          onMade={onMade}
          onClose={() => setParent(null)}
        />
      )}
      {made && <TokenSecret made={made} onClose={() => setMade(null)} />}
      {action && <ActionDialog action={action} onDone={reload} onClose={() => setAction(null)} />}
    </Section>
  );
}

type TokenRow = InTree<ApiToken> & { readonly names: ReadonlyMap<string, string> };

type TokenItemProps = TokenRow & {
  readonly onAction: (action: TokenAction) => void;
  readonly onNarrow: () => void;
};

function TokenItem({ token, level, names, onAction, onNarrow }: TokenItemProps) {
  const isOver = tokenIsOver(token, now.value);
  return (
    <Item title={token.name} facts={tokenFacts(token, names, now.value)} level={level}>
      {!isOver && mayHaveChildren(token) && <Button onClick={onNarrow}>Narrower token…</Button>}
      {!isOver && <Button onClick={() => onAction({ what: 'revoke', token })}>Revoke</Button>}
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
        Programs that use this token, or one made from it, are refused from now on.{' '}
        {revoking ? 'It stays in the list for reference.' : 'It is also removed from the list.'}
      </p>
    </Removal>
  );
}
