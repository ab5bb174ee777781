import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { navigate } from '../../../lib/browser/router.ts';
import { plural } from '../../../lib/format/format.ts';
import { hasReset } from '../../../session/actions.ts';
import { Button } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { useTitle } from '../../../ui/hooks/use-title.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Page } from '../../../ui/page.tsx';
import { Item, Items, Loading, Section } from '../../../ui/section.tsx';
import { Removal } from '../remove-dialog.tsx';
import { useConfirmation } from '../use-reauthentication.tsx';
import { type Credential, credentialFacts, type Loaded, loadCredentials } from './load-credentials.ts';

/** What a new password does not end, so that its user can. */
export const CREDENTIALS_PATH = '/settings/credentials';

/** The same after a reset link was used. */
export const RESET_DONE_PATH = '/reset/done';

const TITLE = 'What can still sign in as you';

export function CredentialsPage() {
  return (
    <SignInsPage>
      <Credentials of={useLoaded(loadCredentials)} lead="Apart from your password and your sessions." />
    </SignInsPage>
  );
}

/** Goes on at once where this page has used no reset link. */
export function AfterReset() {
  const isTrue = hasReset();
  useEffect(() => {
    if (!isTrue) navigate('/', { replace: true });
  }, []);
  return isTrue ? <LeftByReset /> : <Loading />;
}

/** Goes on at once where nothing is left. */
function LeftByReset() {
  const list = useLoaded(loadCredentials);
  const [isShown, setShown] = useState(false);
  const isEmpty =
    list.value?.credentials.length === 0 && list.value.missing.length === 0 && list.value.skipped === 0;
  useEffect(() => {
    if (isEmpty && !isShown) navigate('/', { replace: true });
    else if (list.value !== null) setShown(true);
  }, [isEmpty, list.value]);
  if (!isShown && list.failure === null) return <Loading />;
  return (
    <SignInsPage>
      <Credentials
        of={list}
        lead="The reset ended all other sessions and your API tokens, but not these. If somebody else was in your account, remove what you do not recognize."
      />
      <div class="section-actions">
        <Button kind="primary" onClick={() => navigate('/', { replace: true })}>
          Continue
        </Button>
      </div>
    </SignInsPage>
  );
}

function SignInsPage({ children }: { readonly children: ComponentChildren }) {
  useTitle(TITLE);
  return <Page title={TITLE}>{children}</Page>;
}

type CredentialsProps = {
  readonly of: ReturnType<typeof useLoaded<Loaded>>;
  readonly lead: string;
};

function Credentials({ of, lead }: CredentialsProps) {
  const [removed, setRemoved] = useState<Credential | null>(null);
  const { confirmed, dialog } = useConfirmation();
  const { missing = [], skipped = 0 } = of.value ?? {};
  const isComplete = missing.length === 0 && skipped === 0;
  return (
    <Section title="Keys, tokens and links" lead={lead}>
      {missing.length > 0 && <Missing kinds={missing} reload={of.reload} />}
      {skipped > 0 && (
        <p class="note">
          Share links of {plural(skipped, 'container')} that you have not used lately are not in this list.
          Open “Share…” of a container to see its links. Each ends after a day at most.
        </p>
      )}
      <Items
        of={{ ...of, value: of.value?.credentials ?? null }}
        none={isComplete ? 'Nothing else.' : 'Nothing else was found.'}
        row={(one) => (
          <Item key={one.id} title={one.name} facts={credentialFacts(one)}>
            <Button onClick={() => setRemoved(one)}>{one.action}</Button>
          </Item>
        )}
      />
      {dialog}
      {removed !== null && (
        <Removal
          title={`${removed.action} “${removed.name}”?`}
          action={removed.action}
          done={`${removed.kind} removed`}
          work={() => confirmed(removed.remove)}
          onDone={() => void of.reload()}
          onClose={() => setRemoved(null)}
        >
          <p>{CONSEQUENCE[removed.kind]}</p>
        </Removal>
      )}
    </Section>
  );
}

type MissingProps = {
  readonly kinds: Loaded['missing'];
  readonly reload: () => Promise<void>;
};

const Missing = ({ kinds, reload }: MissingProps) => (
  <div class="problem" role="alert">
    <Icon name="warning" size={18} />
    <div>
      <strong>The list is not complete</strong>
      <p>These could not be read: {kinds.map((kind) => PLURAL[kind]).join(', ')}.</p>
      <Button onClick={() => void reload()}>Try again</Button>
    </div>
  </div>
);

const PLURAL = {
  Passkey: 'passkeys',
  'Connected sign-in': 'connected sign-ins',
  'SSH key': 'SSH keys',
  'API token': 'API tokens',
  'Share link': 'share links',
} as const satisfies Record<Credential['kind'], string>;

const CONSEQUENCE = {
  Passkey: 'It no longer signs in to your account, and your other sessions end.',
  'Connected sign-in': 'You can no longer sign in with it, and your other sessions end.',
  'SSH key': 'It no longer opens your containers.',
  'API token': 'Programs that use it, or a token made from it, are refused from now on.',
  'Share link': 'Everybody who came by this link leaves the terminal.',
} as const satisfies Record<Credential['kind'], string>;
