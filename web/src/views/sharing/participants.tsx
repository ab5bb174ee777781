import type { Participant } from '../../../../src/protocol/terminal-frames.ts';
import { Icon } from '../../ui/icon.tsx';

const NAMES_SHOWN = 2;

function wordsOf(others: readonly Participant[]): string {
  if (others.length === 0) return 'shared';
  const names = others.slice(0, NAMES_SHOWN).map(({ username }) => username);
  const more = others.length - names.length;
  return names.join(', ') + (more > 0 ? ` +${more}` : '');
}

const rightOf = ({ owner, mode }: Participant): string =>
  owner ? 'owner' : mode === 'view' ? 'can view' : 'can type';

type ParticipantsProps = {
  readonly people: readonly Participant[];
  readonly me: string;
  /** Opens the shares; null unless the user owns the terminal. */
  readonly onOpen: (() => void) | null;
};

/** The other users in this shared terminal. */
export function Participants({ people, me, onOpen }: ParticipantsProps) {
  if (people.length === 0) return null;
  const others = people.filter(({ user_id: id }) => id !== me);
  const all = people.map((one) => `${one.username} (${rightOf(one)})`).join(', ');
  const content = (
    <>
      <Icon name="users" size={14} />
      <span>{wordsOf(others)}</span>
    </>
  );
  const title = `In this terminal: ${all}`;
  return onOpen === null ? (
    <span class="participants" title={title} role="status">
      {content}
    </span>
  ) : (
    <button type="button" class="participants" title={title} onClick={onOpen}>
      {content}
    </button>
  );
}
