import { useEffect, useState } from 'preact/hooks';
import type { User } from '../api/types.ts';
import { navigate, nextPath, path, signInPath } from '../lib/browser/router.ts';
import { followSigns, lockWhenIdle } from '../session/auto-lock.ts';
import { locked, lockNow, session } from '../session/session.ts';
import { followAnnouncements, forgetAnnouncements } from '../state/announcements.ts';
import { forgetContainers } from '../state/containers.ts';
import { followEvents } from '../state/events.ts';
import { followProfile, me } from '../state/profile.ts';
import { toastFailure } from '../state/toasts.ts';
import { Arriving } from '../ui/button.tsx';
import { useHotkeys } from '../ui/hooks/use-hotkeys.ts';
import { Toasts } from '../ui/toasts.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { LockScreen } from './lock-screen.tsx';
import { Shell } from './page-shell.tsx';
import { PaletteHost } from './palette/palette-host.tsx';
import { GATES, isGate, isLinkPage, LINK_PAGES } from './public-routes.ts';
import { PageAt } from './routes.tsx';
import { Shortcuts } from './shortcuts-dialog.tsx';
import { TerminalPage } from './terminal/page.tsx';

/** Sends signed-out users to the public pages, and signed-in users away from them. */
function useGate(): void {
  const { kind } = session.value;
  const at = path.value;
  useEffect(() => {
    if (kind === 'signed_out') forgetContainers();
    if (kind === 'signed_out' && !isGate(at) && !isLinkPage(at)) navigate(signInPath(), { replace: true });
    if (kind === 'signed_in' && isGate(at)) navigate(nextPath(), { replace: true });
  }, [kind, at]);
}

export function App() {
  useGate();
  const now = session.value;
  return (
    <>
      {now.kind === 'signed_in' ? <Inside user={now.user} /> : <Outside />}
      {now.kind === 'signed_in' && locked.value && <LockScreen username={now.user.username} />}
      <Toasts />
      <Tooltip />
    </>
  );
}

function Outside() {
  const { kind } = session.value;
  const at = path.value;
  if (kind === 'restoring') return <Arriving words="One moment…" />;
  if (kind === 'unreachable') return <Arriving words="Berth is not responding. Retrying…" isLate={false} />;
  const Gate = GATES[at] ?? LINK_PAGES[at];
  return Gate ? <Gate /> : null;
}

const TERMINAL_PATH = /^\/containers\/([^/]+)$/;

/** Loads the profile of the signed-in user, and locks the screen as it says. */
function useProfile(userId: string): void {
  const minutes = me.value?.passcode_set ? me.value.auto_lock_minutes : null;
  useEffect(followProfile, [userId]);
  useEffect(followSigns, [userId]);
  useEffect(() => (minutes === null ? undefined : lockWhenIdle(minutes)), [minutes]);
}

const lock = (): void => {
  if (me.value?.passcode_set) lockNow().catch(toastFailure);
};

/** Follows events and announcements, except while the screen is locked: the service sends none then. */
function useEvents(userId: string): void {
  const isLocked = locked.value;
  useEffect(() => (isLocked ? undefined : followEvents()), [userId, isLocked]);
  useEffect(() => (isLocked ? undefined : followAnnouncements()), [userId, isLocked]);
  useEffect(() => forgetAnnouncements, [userId]);
}

function Inside({ user }: { user: User }) {
  const [help, setHelp] = useState(false);
  const at = path.value;
  const id = TERMINAL_PATH.exec(at)?.[1];
  useProfile(user.id);
  useEvents(user.id);
  useHotkeys({ '?': () => setHelp(true), L: lock });
  if (isGate(at)) return null;
  return (
    <>
      {id !== undefined ? (
        <TerminalPage key={id} id={decodeURIComponent(id)} onHelp={() => setHelp(true)} />
      ) : (
        <Shell user={user} onHelp={() => setHelp(true)} onLock={lock}>
          <PageAt path={at} user={user} />
        </Shell>
      )}
      {!locked.value && <PaletteHost user={user} onHelp={() => setHelp(true)} onLock={lock} />}
      {help && <Shortcuts onClose={() => setHelp(false)} />}
    </>
  );
}
