import { useEffect, useId, useState } from 'preact/hooks';
import type { Page } from '../../../api/calls.ts';
import { BerthError } from '../../../api/errors.ts';
import { listUsers } from '../../../api/identity/people.ts';
import type { ManagedUser } from '../../../api/types.ts';
import { TextField, VERBATIM } from '../../../ui/fields/field.tsx';

const INPUT = { ...VERBATIM, name: 'to', 'data-autofocus': true } as const;
/** After this pause in typing the service is asked. */
const PAUSE_MS = 150;

type PersonFieldProps = {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Whether to suggest this user, who may own containers. */
  readonly isSuggested: (user: ManagedUser) => boolean;
  readonly error?: string | undefined;
};

/** A field for a username that suggests people who may own containers. `personCalled` finds the person afterwards. */
export function PersonField({ isSuggested, ...field }: PersonFieldProps) {
  const suggested = usePeople(field.value).filter((user) => mayOwn(user) && isSuggested(user));
  const list = useId();
  return (
    <>
      <TextField {...field} input={{ ...INPUT, list }} />
      <datalist id={list}>
        {suggested.map(({ id, username, email }) => (
          <option key={id} value={username} label={email ?? ''} />
        ))}
      </datalist>
    </>
  );
}

/** The most that the service searches for, in characters. */
const LONGEST_SEARCH = 100;

/** Addresses may be longer, so a search may also find others. */
const searched = (text: string): string => text.slice(0, LONGEST_SEARCH);

/** People whose name or address contains the text. */
function usePeople(text: string): readonly ManagedUser[] {
  const [people, setPeople] = useState<readonly ManagedUser[]>([]);
  useEffect(() => {
    let isOld = false;
    const read = async (): Promise<void> => {
      const { items } = await listUsers(searched(text.trim()))(null).catch(() => ({ items: [] }));
      if (!isOld) setPeople(items);
    };
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  return people;
}

const mayOwn = ({ disabled_at, email, being_deleted }: ManagedUser): boolean =>
  disabled_at === null && email !== null && !being_deleted;

/** The person with exactly that username or email address. Throws a fault of the field `to`. */
export async function personCalled(text: string): Promise<ManagedUser> {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') throw invalidPerson('is required');
  // The search finds all names that contain the text, so the person may be on a later page.
  let cursor: string | null = null;
  do {
    const page: Page<ManagedUser> = await listUsers(searched(wanted))(cursor);
    const person = page.items.find(
      ({ username, email }) => username.toLowerCase() === wanted || email?.toLowerCase() === wanted,
    );
    if (person !== undefined) return person;
    cursor = page.next;
  } while (cursor !== null);
  throw invalidPerson('nobody here has that name');
}

const invalidPerson = (to: string): BerthError =>
  new BerthError(400, 'validation_failed', 'invalid request', { fields: { to } });
