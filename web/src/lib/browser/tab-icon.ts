import { effect, signal } from '@preact/signals';
import { reach } from './server-reachability.ts';

/** What happened in a tab that nobody sees. */
type Unseen = 'output' | 'fault';

const ICONS: Readonly<Record<Unseen | 'none', string>> = {
  none: '/favicon.svg',
  output: '/favicon-output.svg',
  fault: '/favicon-fault.svg',
};

const unseen = signal<Unseen | null>(null);

/** Marks the tab's icon until somebody sees the tab again. A fault is not covered by output. */
export function noteUnseen(what: Unseen): void {
  if (document.visibilityState === 'hidden' && unseen.peek() !== 'fault') unseen.value = what;
}

/** Keeps the tab's icon in step with what nobody has seen, and with whether the service is in reach. */
export function startTabIcon(): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') unseen.value = null;
  });
  effect(() => {
    const href = ICONS[reach.value === 'fine' ? (unseen.value ?? 'none') : 'fault'];
    if (icon !== null && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
  });
}
