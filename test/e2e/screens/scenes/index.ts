import type { Scene } from '../scene.ts';
import { ADMINISTRATION, NOTICED } from './administration.ts';
import { ALL_CONTAINERS } from './all-containers.ts';
import { CONTAINERS } from './containers.ts';
import { HEALTH_PAGES } from './health.ts';
import { PROVIDER } from './provider.ts';
import { FRAME, SETTINGS } from './settings.ts';
import { LINKS, SIGNED_OUT } from './signed-out.ts';
import { GUESTS, LISTS, TOASTS } from './states.ts';
import { TERMINAL_STATES } from './terminal-states.ts';
import { FAULTS, RECORDINGS, TERMINALS } from './terminals.ts';

/** All screens, in the order in which they are made. */
export const SCENES: readonly Scene[] = [
  ...SIGNED_OUT,
  ...LINKS,
  ...GUESTS,
  ...PROVIDER,
  ...CONTAINERS,
  ...LISTS,
  ...TERMINALS,
  ...TERMINAL_STATES,
  ...RECORDINGS,
  ...FAULTS,
  ...TOASTS,
  ...SETTINGS,
  ...FRAME,
  ...ADMINISTRATION,
  ...ALL_CONTAINERS,
  ...HEALTH_PAGES,
  ...NOTICED,
];
