import { useEffect, useState } from 'preact/hooks';
import type { User } from '../api/types.ts';
import { navigate, nextPath, path, signInPath } from '../lib/router.ts';
import { session } from '../session/session.ts';
import { forgetContainers } from '../state/containers.ts';
import { Spinner } from '../ui/button.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { ContainersPage } from './containers/page.tsx';
import { GATES, isGate } from './gates.ts';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TerminalPage } from './terminal/page.tsx';

/** Keeps address and session together: strangers at the gate, everybody else inside. */
function useGate(): void {
  const { kind } = session.value;
  const at = path.value;
  useEffect(() => {
    if (kind === 'signed_out') forgetContainers();
    if (kind === 'signed_out' && !isGate(at)) navigate(signInPath(), { replace: true });
    if (kind === 'signed_in' && isGate(at)) navigate(nextPath(), { replace: true });
  }, [kind, at]);
}

export function App() {
  useGate();
  const now = session.value;
  return (
    <>
      {now.kind === 'signed_in' ? <Inside user={now.user} /> : <Outside />}
      <Toasts />
    </>
  );
}

function Outside() {
  const { kind } = session.value;
  const at = path.value;
  if (kind === 'restoring' || kind === 'unreachable') return <Arriving lost={kind === 'unreachable'} />;
  const Gate = GATES[at];
  return Gate ? <Gate /> : null;
}

function Arriving({ lost }: { lost: boolean }) {
  return (
    <div class="arriving" role="status">
      <Spinner />
      <p class={lost ? '' : 'late'}>{lost ? 'Berth does not answer. Trying again…' : 'One moment…'}</p>
    </div>
  );
}

const TERMINAL_PATH = /^\/containers\/([^/]+)$/;

function Inside({ user }: { user: User }) {
  const [help, setHelp] = useState(false);
  const at = path.value;
  const id = TERMINAL_PATH.exec(at)?.[1];
  useHotkeys({ '?': () => setHelp(true) });
  if (isGate(at)) return null;
  return (
    <>
      {id !== undefined ? (
        <TerminalPage key={id} id={decodeURIComponent(id)} onHelp={() => setHelp(true)} />
      ) : (
        <Shell user={user} onHelp={() => setHelp(true)}>
          {at === '/' ? <ContainersPage /> : <NotFound />}
        </Shell>
      )}
      {help && <Shortcuts onClose={() => setHelp(false)} />}
    </>
  );
}
