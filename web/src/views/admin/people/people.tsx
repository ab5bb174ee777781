import { useEffect, useState } from 'preact/hooks';
import { getCatalogue } from '../../../api/containers/containers.ts';
import type { Proof } from '../../../api/identity/account.ts';
import { changeUser, listUsers, type UserChange } from '../../../api/identity/people.ts';
import type { ManagedUser } from '../../../api/types.ts';
import { onDay } from '../../../lib/format/format.ts';
import { session } from '../../../session/session.ts';
import { toastFailure, toastOk } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { usePages } from '../../../ui/hooks/use-pages.ts';
import { LoadProblem } from '../../../ui/problem.tsx';
import { SearchBox } from '../../../ui/search-box.tsx';
import { Loading, Section } from '../../../ui/section.tsx';
import { TableHead } from '../../../ui/table-head.tsx';
import { usePageRequest } from '../../palette/page-requests.ts';
import { useConfirmation } from '../../settings/use-reauthentication.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkDialog, type MadeLink } from './link-dialog.tsx';
import { OpenLinks, useOpenLinks } from './links.tsx';
import { PersonDialog } from './person-dialogs.tsx';
import { type PersonAct, PersonRow } from './person-row.tsx';

export function useTiers(): readonly string[] {
  const [tiers, setTiers] = useState<readonly string[]>([]);
  useEffect(() => {
    getCatalogue().then((catalogue) => setTiers(catalogue.tiers.map(({ name }) => name)), toastFailure);
  }, []);
  return tiers;
}

type Pages = ReturnType<typeof usePages<ManagedUser>>;

type Asked = { readonly act: PersonAct; readonly user: ManagedUser };

/** Shows what became of a person, with a way back. */
function useOutcomes(users: Pages, reloadLinks: () => Promise<void>) {
  const { confirmed, dialog } = useConfirmation();
  const undo = async (after: ManagedUser, back: UserChange): Promise<void> => {
    try {
      users.update([await confirmed((proof: Proof) => changeUser(after.id, { ...back, ...proof }))]);
    } catch (failure) {
      toastFailure(failure);
    }
  };
  const onChanged = (after: ManagedUser, before: ManagedUser): void => {
    users.update([after]);
    const back = undoOf(after, before);
    toastOk(
      wordsOf(after, before),
      back === null ? null : { label: 'Undo', run: () => void undo(after, back) },
    );
    void reloadLinks();
  };
  const onDeleted = ({ username }: ManagedUser, isDone: boolean): void => {
    toastOk(
      isDone ? `${username} is deleted` : `${username} is signed out, and the containers are being deleted`,
    );
    void users.reload();
  };
  return { dialog, onChanged, onDeleted };
}

/** Everybody with an account: invited, changed, reset and deleted here. */
export function People() {
  const [search, setSearch] = useState(() => new URLSearchParams(location.search).get('search') ?? '');
  const users = usePages(listUsers(search), search);
  const links = useOpenLinks();
  const tiers = useTiers();
  const { dialog, ...outcomes } = useOutcomes(users, links.reload);
  const [inviting, setInviting] = useState(false);
  usePageRequest('invitation', () => setInviting(true));
  const [asked, setAsked] = useState<Asked | null>(null);
  const [made, setMade] = useState<MadeLink | null>(null);

  const onMade = (link: MadeLink): void => {
    setMade(link);
    void links.reload();
  };
  return (
    <>
      <Section
        title="People"
        lead="Everybody with an account, and guests."
        action={
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite
          </Button>
        }
      >
        <SearchBox
          label="Search people"
          placeholder="Name or email"
          maxLength={100}
          value={search}
          onInput={setSearch}
          class="people-search"
        />
        <PeopleTable users={users} onAct={(act, user) => setAsked({ act, user })} />
        {users.more && (
          <div>
            <Button onClick={users.more}>Show more</Button>
          </div>
        )}
      </Section>
      <OpenLinks list={links} />
      {dialog}
      {inviting && <InviteDialog tiers={tiers} onMade={onMade} onClose={() => setInviting(false)} />}
      {made && <LinkDialog made={made} onClose={() => setMade(null)} />}
      {asked && (
        <PersonDialog
          key={`${asked.act} ${asked.user.id}`}
          {...asked}
          tiers={tiers}
          {...outcomes}
          onMade={onMade}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

function wordsOf(after: ManagedUser, before: ManagedUser): string {
  const { username } = after;
  if (after.role !== before.role) {
    return after.role === 'admin' ? `${username} is now an administrator` : `${username} is now a user`;
  }
  if (after.tier !== before.tier) return `${username} is now on ${after.tier}`;
  if (after.disabled_at !== before.disabled_at)
    return after.disabled_at === null ? `${username} is enabled` : `${username} is disabled`;
  if (after.ends_at === before.ends_at) return `${username} is unchanged`;
  return after.ends_at === null
    ? `The account of ${username} has no end`
    : `The account of ${username} ends on ${onDay(after.ends_at)}`;
}

const isViewer = ({ id }: ManagedUser): boolean => {
  const viewer = session.peek();
  return viewer.kind === 'signed_in' && viewer.user.id === id;
};

/** What takes the change back; null for none, as for users who have just lost the right to make it. */
function undoOf(after: ManagedUser, before: ManagedUser): UserChange | null {
  if (isViewer(after) && after.role !== 'admin') return null;
  if (after.role !== before.role) return { role: before.role, ends_at: before.ends_at };
  return after.tier === before.tier ? null : { tier: before.tier };
}

const COLUMNS = [
  ['Person'],
  ['Role', 'wide-only'],
  ['Tier', 'wide-only'],
  ['Containers', 'number'],
  ['Last seen', 'wide-only'],
] as const;

type TableProps = {
  readonly users: Pages;
  readonly onAct: (act: PersonAct, user: ManagedUser) => void;
};

function PeopleTable({ users: { value, failure, reload }, onAct }: TableProps) {
  if (failure !== null) return <LoadProblem of={{ failure, reload }} />;
  if (value === null) return <Loading />;
  if (value.length === 0) return <p class="none">No matching people.</p>;
  return (
    <table class="people">
      <TableHead columns={COLUMNS} />
      <tbody>
        {value.map((user) => (
          <PersonRow key={user.id} user={user} isSelf={isViewer(user)} onAct={onAct} />
        ))}
      </tbody>
    </table>
  );
}
