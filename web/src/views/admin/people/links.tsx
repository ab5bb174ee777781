import {
  openInvitations,
  openResetLinks,
  withdrawInvitation,
  withdrawResetLink,
} from '../../../api/identity/people.ts';
import type { Invitation, ResetLink } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { onDay, within } from '../../../lib/format/format.ts';
import { toastOutcome } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../../ui/section.tsx';

type OpenLink = {
  readonly id: string;
  readonly title: string;
  readonly facts: string;
  readonly withdraw: () => Promise<unknown>;
};

const ends = ({ created_by, expires_at }: Invitation | ResetLink): string =>
  `by ${created_by.username} · ends ${within(expires_at, now.value)}`;

const until = ({ account_ends_at }: Invitation): string =>
  account_ends_at === null ? '' : ` · account until ${onDay(account_ends_at)}`;

const ofInvitation = (link: Invitation): OpenLink => ({
  id: link.id,
  title: `Invitation for ${link.email ?? link.username ?? 'anyone with the link'}`,
  facts: `${link.role === 'admin' ? 'administrator' : 'user'}, ${link.tier}${until(link)} · ${ends(link)}`,
  withdraw: () => withdrawInvitation(link.id),
});

const ofReset = (link: ResetLink): OpenLink => ({
  id: link.id,
  title: `${link.kind === 'password' ? 'Password' : 'Second factor'} of ${link.user.username}`,
  facts: ends(link),
  withdraw: () => withdrawResetLink(link.id),
});

async function openLinks(): Promise<readonly OpenLink[]> {
  const [invitations, resets] = await Promise.all([openInvitations(), openResetLinks()]);
  return [...invitations.map(ofInvitation), ...resets.map(ofReset)];
}

/** Links that nobody has used yet. `changes` counts what may have changed them. */
export const useOpenLinks = () => useLoaded(openLinks);

export function OpenLinks({ list }: { readonly list: ReturnType<typeof useOpenLinks> }) {
  const withdraw = async (link: OpenLink): Promise<void> => {
    await toastOutcome(link.withdraw(), 'Link withdrawn');
    await list.reload();
  };
  return (
    <Section title="Open links" lead="Each works once. Withdraw one that went to the wrong person.">
      <Items
        of={list}
        none="No open links."
        row={(link) => (
          <Item key={link.id} title={link.title} facts={link.facts}>
            <Button onClick={() => void withdraw(link)}>Withdraw</Button>
          </Item>
        )}
      />
    </Section>
  );
}
