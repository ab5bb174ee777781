import { useId, useState } from 'preact/hooks';
import { leaveCollaboration, removeParticipant, shareTerminal } from '../../api/terminals/collaborations.ts';
import type { Collaboration, CollaborationMode, Container, SharedTerminal } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { within } from '../../lib/format/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useForm, useSubmit } from '../auth/use-submit.ts';
import { useCollaborations } from './use-collaborations.ts';

const MODES: readonly { readonly mode: CollaborationMode; readonly label: string; readonly hint: string }[] =
  [
    { mode: 'view', label: 'View', hint: 'They see the terminal. They cannot type.' },
    { mode: 'control', label: 'Type', hint: 'They can do everything you can do in this container.' },
  ];

const TIMES: readonly (readonly [minutes: string, label: string])[] = [
  ['30', '30 minutes'],
  ['60', '1 hour'],
  ['240', '4 hours'],
  ['480', '8 hours'],
  ['1440', '1 day'],
];

/** Makes links to a terminal, shows who came by them, and ends them. */
export function ShareDialog({ container, onClose }: { container: Container; onClose: () => void }) {
  const { list, failure, refresh } = useCollaborations(container.db_id);
  const [made, setMade] = useState<SharedTerminal | null>(null);
  const isOver = made !== null && list !== null && !list.some(({ id }) => id === made.id);
  const onMade = async (share: SharedTerminal): Promise<void> => {
    await refresh();
    setMade(share);
  };
  return (
    <Dialog title={`Share the terminal of ${container.name}`} onClose={onClose} narrow>
      <div class="dialog-body">
        {made !== null && !isOver ? (
          <Link made={made} onAnother={() => setMade(null)} />
        ) : (
          <NewLink container={container} onMade={onMade} />
        )}
        {failure !== null && <Problem failure={failure} />}
        {list !== null && list.length > 0 && <Shares list={list} onEnded={refresh} />}
      </div>
    </Dialog>
  );
}

type NewLinkProps = {
  readonly container: Container;
  readonly onMade: (made: SharedTerminal) => Promise<void>;
};

function NewLink({ container, onMade }: NewLinkProps) {
  const [mode, setMode] = useState<CollaborationMode>('view');
  const group = useId();
  const form = useForm({ expires_in_minutes: '60' }, async ({ expires_in_minutes: minutes }) =>
    onMade(await shareTerminal(container.db_id, mode, Number(minutes))),
  );
  return (
    <form class="share-form" onSubmit={(event) => void form.submit(event)}>
      {form.failure !== null && <Problem failure={form.failure} />}
      <fieldset class="share-modes">
        <legend>Anyone with the link can</legend>
        {MODES.map((one) => (
          <label class="size-card" key={one.mode}>
            <input
              type="radio"
              name={group}
              checked={mode === one.mode}
              onChange={() => setMode(one.mode)}
              data-autofocus={one.mode === 'view' || undefined}
            />
            <strong>{one.label}</strong>
            <span>{one.hint}</span>
          </label>
        ))}
      </fieldset>
      <SelectField
        label="Valid for"
        {...form.field('expires_in_minutes')}
        options={TIMES}
        hint="You can end it earlier."
      />
      <Button kind="primary" icon="link" type="submit" busy={form.busy ? 'Creating' : undefined}>
        Create link
      </Button>
    </form>
  );
}

/** The link, this once. */
function Link({ made, onAnother }: { made: SharedTerminal; onAnother: () => void }) {
  return (
    <div class="share-form">
      <p>
        Send this link to people you trust to{' '}
        {made.mode === 'view' ? 'view your terminal' : 'type in your terminal'}. They need an account on this
        server, unless it lets guests in. The link is not shown again.
      </p>
      <div class="secret">
        <code class="token-secret">{made.url}</code>
        <CopyButton text={made.url} label="Copy the link" />
      </div>
      <Button onClick={onAnother}>Another link</Button>
    </div>
  );
}

type SharesProps = { readonly list: readonly Collaboration[]; readonly onEnded: () => Promise<void> };

function Shares({ list, onEnded }: SharesProps) {
  const typing = list.filter(({ mode }) => mode === 'control');
  const typists = new Set(typing.flatMap((share) => share.participants.map(({ user_id }) => user_id)));
  return (
    <section class="shares" aria-label="Shared now">
      <h3>Shared now</h3>
      <ul>
        {list.map((share) => (
          <Share key={share.id} share={share} typists={typists} onEnded={onEnded} />
        ))}
      </ul>
    </section>
  );
}

type ShareProps = {
  readonly share: Collaboration;
  /** The ids of those who may type by one of the links. */
  readonly typists: ReadonlySet<string>;
  readonly onEnded: () => Promise<void>;
};

function Share({ share, typists, onEnded }: ShareProps) {
  const ending = useSubmit(async () => {
    await leaveCollaboration(share.id);
    await onEnded();
  }, []);
  return (
    <li>
      <div>
        <strong>{share.mode === 'view' ? 'Can view' : 'Can type'}</strong>
        <span class="share-time">ends {within(share.expires_at, now.value)}</span>
        {share.participants.length === 0 && <p>Nobody has joined yet.</p>}
        {share.participants.map((one) => (
          <ParticipantLine
            key={one.user_id}
            share={share}
            participant={one}
            mayType={share.mode === 'view' && typists.has(one.user_id)}
            onRemoved={onEnded}
          />
        ))}
        {ending.failure !== null && <Problem failure={ending.failure} />}
      </div>
      <Button onClick={() => void ending.submit()} busy={ending.busy ? 'Ending' : undefined}>
        End
      </Button>
    </li>
  );
}

type ParticipantLineProps = {
  readonly share: Collaboration;
  readonly participant: Collaboration['participants'][number];
  /** Whether another link lets them type. */
  readonly mayType: boolean;
  readonly onRemoved: () => Promise<void>;
};

function ParticipantLine({ share, participant, mayType, onRemoved }: ParticipantLineProps) {
  const removing = useSubmit(async () => {
    await removeParticipant(share.id, participant.user_id);
    await onRemoved();
  }, []);
  return (
    <>
      <div class="share-participant">
        <span>
          {participant.username}
          {mayType && ' can also type, by another link'}
        </span>
        <IconButton
          icon="close"
          label={`Remove ${participant.username}: this link no longer lets them in`}
          onClick={() => void removing.submit()}
        />
      </div>
      {removing.failure !== null && <Problem failure={removing.failure} />}
    </>
  );
}
