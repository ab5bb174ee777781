import type { ManagedUser } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { ago, onDay } from '../../../lib/format/format.ts';
import { item, Menu, type MenuItem } from '../../../ui/menu.tsx';
import { BEING_DELETED, FOR_ACCOUNTS, whyNoEnd } from './account-end.ts';

export type PersonAct =
  | 'tier'
  | 'role'
  | 'password'
  | 'second_factor'
  | 'end'
  | 'disable'
  | 'enable'
  | 'delete';

type RowProps = {
  readonly user: ManagedUser;
  readonly isSelf: boolean;
  readonly onAct: (act: PersonAct, user: ManagedUser) => void;
};

const roleOf = ({ role }: ManagedUser): string => (role === 'admin' ? 'Administrator' : 'User');

/** A row of the table of people. */
export function PersonRow({ user, isSelf, onAct }: RowProps) {
  const seen = user.last_seen_at === null ? 'never' : ago(user.last_seen_at, now.value);
  return (
    <tr>
      <th scope="row">
        <span class="person-name">{user.username}</span> <Tags user={user} isSelf={isSelf} />
        <span class="person-sub">{user.email ?? 'guest'}</span>
        {user.ends_at !== null && user.disabled_at === null && (
          <span class="person-sub">ends on {onDay(user.ends_at)}</span>
        )}
        {user.disabled_reason !== null && <span class="person-sub">“{user.disabled_reason}”</span>}
        <span class="person-sub narrow-only">
          {roleOf(user)} · {user.tier} · seen {seen}
        </span>
      </th>
      <td class="wide-only">{roleOf(user)}</td>
      <td class="wide-only">{user.tier}</td>
      <td class="number">
        <a href={`/admin/containers?owner=${encodeURIComponent(user.username)}`}>
          {user.containers}/{user.max_containers}
          <span class="visually-hidden"> containers of {user.username}</span>
        </a>
      </td>
      <td class="wide-only">{seen}</td>
      <td class="actions">
        <Menu label={`More for ${user.username}`} icon="dots" items={itemsOf(user, isSelf, onAct)} />
      </td>
    </tr>
  );
}

function Tags({ user, isSelf }: { readonly user: ManagedUser; readonly isSelf: boolean }) {
  const hasNoPassword = !user.password_set && user.email !== null;
  return (
    <>
      {isSelf && <span class="tag">you</span>}
      {user.being_deleted && <span class="tag bad">being deleted</span>}
      {user.disabled_at !== null && !user.being_deleted && <span class="tag bad">disabled</span>}
      {hasNoPassword && user.disabled_at === null && <span class="tag">no password yet</span>}
    </>
  );
}

function resetReason({ being_deleted, email, disabled_at }: ManagedUser): string | undefined {
  if (being_deleted) return BEING_DELETED;
  if (email === null) return FOR_ACCOUNTS;
  return disabled_at === null ? undefined : 'Enable the account first';
}

function itemsOf(user: ManagedUser, isSelf: boolean, onAct: RowProps['onAct']): readonly MenuItem[] {
  const isOff = user.disabled_at !== null;
  const isGuest = user.email === null;
  const act = (what: PersonAct) => () => onAct(what, user);
  const leaving = user.being_deleted ? BEING_DELETED : undefined;
  const cannot = { disabled: user.being_deleted, reason: leaving };
  const own = isSelf ? 'Not for your own account' : undefined;
  const notSelf = { disabled: isSelf || user.being_deleted, reason: own ?? leaving };
  const noReset = { disabled: isSelf || isOff || isGuest, reason: own ?? resetReason(user) };
  const noEnd = whyNoEnd(user, now.value);
  return [
    item('gear', 'Change tier…', act('tier'), cannot),
    item(
      'shield',
      user.role === 'admin' ? 'Remove administrator rights…' : 'Make administrator…',
      act('role'),
      { disabled: isGuest || user.being_deleted, reason: leaving ?? (isGuest ? FOR_ACCOUNTS : undefined) },
    ),
    item('key', 'Reset password…', act('password'), noReset),
    item('lock', 'Reset second factor…', act('second_factor'), {
      disabled: noReset.disabled || !user.mfa_enabled,
      reason: noReset.reason ?? 'There is none',
    }),
    item('clock', 'Last day…', act('end'), { disabled: noEnd !== null, reason: noEnd ?? undefined }),
    isOff
      ? item('check', 'Enable', act('enable'), cannot)
      : item('stop', 'Disable…', act('disable'), notSelf),
    item('trash', 'Delete…', act('delete'), { ...notSelf, danger: true }),
  ];
}
