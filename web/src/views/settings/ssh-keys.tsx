import { useState } from 'preact/hooks';
import { addSshKey, deleteSshKey, getSshHostKeys, listSshKeys } from '../../api/identity/account.ts';
import type { SshHostKeys, SshKey } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago } from '../../lib/format/format.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyLine } from '../../ui/copy-line.tsx';
import { TextField, VERBATIM } from '../../ui/fields/field.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../ui/section.tsx';
import { useForm } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';
import { Removal } from './remove-dialog.tsx';

const NO_PORT_LEAD = 'Public keys for an SSH port. This server has none, so keys have no use yet.';

/** Public keys that open containers by SSH. */
export function SshKeys() {
  const list = useLoaded(listSshKeys);
  const server = useLoaded(getSshHostKeys);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<SshKey | null>(null);
  const reload = (): void => void list.reload();
  return (
    <Section
      title="SSH keys"
      lead={server.value?.port === null ? NO_PORT_LEAD : 'Public keys that open your containers by SSH.'}
      action={
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          Add a key
        </Button>
      }
    >
      <Items
        of={list}
        none="You have no SSH keys yet."
        row={(key) => (
          <Item key={key.id} title={key.name} facts={<Facts sshKey={key} />}>
            <IconButton icon="trash" label={`Remove ${key.name}`} onClick={() => setRemoving(key)} />
          </Item>
        )}
      />
      {server.value !== null && <HowToConnect server={server.value} />}
      {adding && <AddDialog onDone={reload} onClose={() => setAdding(false)} />}
      {removing && (
        <Removal
          title={`Remove “${removing.name}”?`}
          action="Remove"
          done="SSH key removed"
          work={() => deleteSshKey(removing.id)}
          onDone={reload}
          onClose={() => setRemoving(null)}
        >
          <p>The key no longer opens your containers.</p>
        </Removal>
      )}
    </Section>
  );
}

/** The command for a container, and what to compare at the first connection. */
function HowToConnect({ server: { host, port, keys } }: { server: SshHostKeys }) {
  if (port === null) return <WithoutPort />;
  return (
    <>
      <p>
        Connect with <code>{`ssh -p ${port} NAME@${host}`}</code>, where NAME is a container’s name. At the
        first connection, compare the fingerprint:
      </p>
      <ul>
        {keys.map(({ type, fingerprint }) => (
          <li key={type}>
            {type} <span class="mono">{fingerprint}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

const WithoutPort = () => (
  <>
    <p>
      This server has no SSH port. <code>berth ssh</code> works without a key, where NAME is a container’s
      name. <a href="/settings/tokens">Install the command</a> first.
    </p>
    <CopyLine label="Copy the command" text="berth ssh NAME" />
  </>
);

function Facts({ sshKey: { type, fingerprint, created_at, last_used_at } }: { sshKey: SshKey }) {
  const used = last_used_at === null ? 'never used' : `used ${ago(last_used_at, now.value)}`;
  return (
    <>
      {type} · <span class="mono">{fingerprint}</span> · added {ago(created_at, now.value)} · {used}
    </>
  );
}

const KEY_INPUT = {
  name: 'public_key',
  ...VERBATIM,
  required: true,
  placeholder: 'ssh-ed25519 AAAA… you@machine',
  'data-autofocus': true,
} as const;

const NAME_INPUT = { name: 'name', autocomplete: 'off', maxLength: 100 } as const;

function AddDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const form = useForm({ public_key: '', name: '' }, async ({ public_key, name }) => {
    const added = await addSshKey(public_key.trim(), name.trim());
    toastOk(`SSH key “${added.name}” added`);
    onDone();
    onClose();
  });
  return (
    <FormDialog
      title="Add an SSH key"
      form={form}
      action="Add key"
      busy="Adding"
      onClose={onClose}
      novalidate
    >
      <TextField
        label="Public key"
        {...form.field('public_key')}
        hint="One line, as in ~/.ssh/id_ed25519.pub. Never the private key."
        input={KEY_INPUT}
      />
      <TextField
        label="Name"
        {...form.field('name')}
        hint="Leave it empty to use the comment at the end of the key."
        input={NAME_INPUT}
      />
    </FormDialog>
  );
}
