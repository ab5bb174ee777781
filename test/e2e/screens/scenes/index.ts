import type { Scene } from '../scene.ts';
import { ADMINISTRATION, NOTICED } from './administration.ts';
import { CONTAINERS } from './containers.ts';
import { FRAME, SETTINGS } from './settings.ts';
import { LINKS, SIGNED_OUT } from './signed-out.ts';
import { FAULTS, RECORDINGS, TERMINALS } from './terminals.ts';

/** All screens, in the order in which they are made. */
export const SCENES: readonly Scene[] = [
  ...SIGNED_OUT,
  ...LINKS,
  ...CONTAINERS,
  ...TERMINALS,
  ...RECORDINGS,
  ...FAULTS,
  ...SETTINGS,
  ...FRAME,
  ...ADMINISTRATION,
  ...NOTICED,
];
