import { useState } from 'preact/hooks';
import { listSessions, revokeOtherSessions, revokeSession } from '../../api/identity/account.ts';
import type { Session } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago } from '../../lib/format/format.ts';
import { browserOf } from '../../lib/format/user-agent.ts';
import { Button } from '../../ui/button.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../ui/section.tsx';
import { usePageRequest } from '../palette/page-requests.ts';
import { Removal } from './remove-dialog.tsx';

/** Sessions in use, this one first. */
async function inUse(): Promise<readonly Session[]> {
  const sessions = (await listSessions()).filter(({ revoked_at }) => revoked_at === null);
  return [...sessions].sort((a, b) => Number(b.is_current) - Number(a.is_current));
}

const factsOf = (session: Session): string =>
  [
    session.ip_address,
    `signed in ${ago(session.created_at, now.value)}`,
    `seen ${ago(session.last_seen_at, now.value)}`,
  ].join(' · ');

/** The account's sessions. */
export function Sessions() {
  const list = useLoaded(inUse);
  const [ending, setEnding] = useState<Session | 'others' | null>(null);
  usePageRequest('sign_out_others', () => setEnding('others'));
  const others = (list.value?.length ?? 0) > 1;
  return (
    <Section
      title="Sessions"
      lead="Browsers and programs that are signed in to your account."
      action={
        <Button onClick={() => setEnding('others')} disabled={!others}>
          Sign out all others
        </Button>
      }
    >
      <Items
        of={list}
        none="No sessions."
        row={(session) => (
          <Item key={session.id} title={<Name session={session} />} facts={factsOf(session)}>
            {!session.is_current && <Button onClick={() => setEnding(session)}>Sign out</Button>}
          </Item>
        )}
      />
      {ending !== null && (
        <Removal
          title={
            ending === 'others' ? 'Sign out everywhere else?' : `Sign out ${browserOf(ending.user_agent)}?`
          }
          action="Sign out"
          done="Signed out"
          work={() => (ending === 'others' ? revokeOtherSessions() : revokeSession(ending.id))}
          onDone={() => void list.reload()}
          onClose={() => setEnding(null)}
        >
          <p>Terminals open there close immediately. Programs in containers keep running.</p>
        </Removal>
      )}
    </Section>
  );
}

function Name({ session }: { session: Session }) {
  return (
    <span title={session.user_agent}>
      {browserOf(session.user_agent)} {session.is_current && <span class="tag">this session</span>}
    </span>
  );
}
