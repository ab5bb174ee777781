import { useEffect, useState } from 'preact/hooks';
import { changeUser, listUsers, type UserChange } from '../../api/admin.ts';
import { getCatalogue } from '../../api/containers.ts';
import type { User } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago } from '../../lib/format/format.ts';
import { session } from '../../session/session.ts';
import { toastFailure, toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Item, Items, Section } from '../../ui/section.tsx';
import { usePages } from '../../ui/use-pages.ts';

function useTiers(): readonly string[] {
  const [tiers, setTiers] = useState<readonly string[]>([]);
  useEffect(() => {
    getCatalogue().then((catalogue) => setTiers(catalogue.tiers.map(({ name }) => name)), toastFailure);
  }, []);
  return tiers;
}

export function Users() {
  const users = usePages(listUsers);
  const tiers = useTiers();
  return (
    <Section title="Users" lead="Everyone with an account, including guests.">
      <Items
        of={users}
        none="No users."
        row={(user) => (
          <UserItem
            key={user.id}
            user={user}
            tiers={tiers}
            onChanged={(changed) => users.update([changed])}
          />
        )}
      />
      {users.more && <Button onClick={users.more}>Show more</Button>}
    </Section>
  );
}

type UserProps = {
  readonly user: User;
  readonly tiers: readonly string[];
  readonly onChanged: (user: User) => void;
};

function UserItem({ user, tiers, onChanged }: UserProps) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const change = async (body: UserChange): Promise<void> => {
    setBusy(true);
    try {
      onChanged(await changeUser(user.id, body));
      toastOk(`${user.username} is saved`);
    } catch (failure) {
      toastFailure(failure);
      // why: the selection shows what is, not what was refused
      onChanged({ ...user });
    }
    setBusy(false);
  };
  const viewer = session.value;
  const isSelf = viewer.kind === 'signed_in' && viewer.user.id === user.id;
  const disabled = user.disabled_at !== null;
  const facts = `${user.email ?? 'guest'} · since ${ago(user.created_at, now.value)}`;
  return (
    <Item title={<Name user={user} isSelf={isSelf} />} facts={facts}>
      <Choice
        label={`Tier of ${user.username}`}
        value={user.tier}
        options={tiers.includes(user.tier) ? tiers : [user.tier, ...tiers]}
        busy={busy}
        onChange={(tier) => void change({ tier })}
      />
      <Choice
        label={`Role of ${user.username}`}
        value={user.role}
        options={user.email === null ? ['user'] : ['user', 'admin']}
        busy={busy}
        onChange={(role) => void change({ role: role as User['role'] })}
      />
      <Button disabled={busy} onClick={() => (disabled ? void change({ disabled: false }) : setAsking(true))}>
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      {asking && (
        <Confirm
          title={`Disable ${user.username}?`}
          action="Disable"
          danger
          onConfirm={() => void change({ disabled: true })}
          onClose={() => setAsking(false)}
        >
          <p>
            {isSelf ? 'You are' : 'They are'} signed out everywhere immediately, and API tokens stop working.
            Containers and files are kept. Enabling the account restores access.
          </p>
        </Confirm>
      )}
    </Item>
  );
}

function Name({ user, isSelf }: { user: User; isSelf: boolean }) {
  return (
    <>
      {user.username} {isSelf && <span class="tag">you</span>}{' '}
      {user.disabled_at !== null && <span class="tag bad">disabled</span>}
    </>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly busy: boolean;
  readonly onChange: (value: string) => void;
};

function Choice({ label, value, options, busy, onChange }: ChoiceProps) {
  return (
    <select
      class="choice"
      aria-label={label}
      title={label}
      value={value}
      disabled={busy}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}
