import type { Scene } from '../scene.ts';
import { ADMINISTRATION, NOTICED } from './administration.ts';
import { ALL_CONTAINERS } from './all-containers.ts';
import { CONTAINERS } from './containers.ts';
import { FAULTS, TOASTS } from './faults.ts';
import { FRAME } from './frame.ts';
import { HEALTH_PAGES } from './health.ts';
import { PEOPLE } from './people.ts';
import { PROVIDER } from './provider.ts';
import { RECORDINGS } from './recordings.ts';
import { SETTINGS } from './settings.ts';
import { LINKS, SIGNED_OUT } from './signed-out.ts';
import { GUESTS, LISTS } from './states.ts';
import { TERMINAL_STATES } from './terminal-states.ts';
import { TERMINALS } from './terminals.ts';

/** All screens, in the order in which they are made. A scene needs none of another group. */
export const GROUPS = {
  'signed-out': [...SIGNED_OUT, ...LINKS, ...GUESTS],
  provider: PROVIDER,
  containers: CONTAINERS,
  states: [...LISTS, ...FAULTS, ...TOASTS],
  terminals: [...TERMINALS, ...TERMINAL_STATES],
  recordings: RECORDINGS,
  settings: SETTINGS,
  frame: FRAME,
  people: PEOPLE,
  // What announces is last: it shows on every page.
  administration: [...ALL_CONTAINERS, ...HEALTH_PAGES, ...ADMINISTRATION],
  announced: NOTICED,
} as const satisfies Readonly<Record<string, readonly Scene[]>>;
