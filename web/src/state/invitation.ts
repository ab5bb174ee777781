/** The path of links to shared terminals. */
export const JOIN_PATH = '/join';

let code = '';

/** Takes the code out of the address bar and the history, and keeps it during the sign-in. */
function keep(): void {
  if (location.pathname !== JOIN_PATH || location.hash === '') return;
  code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
  history.replaceState(null, '', JOIN_PATH);
}

/** Reads the address now and whenever another link is followed. */
export function startInvitations(): void {
  keep();
  addEventListener('popstate', keep);
  addEventListener('hashchange', keep);
}

/** The code of the newest link, once; empty when there is none. */
export function takeInvitation(): string {
  const taken = code;
  code = '';
  return taken;
}
