import type { DomainError } from '../errors.ts';
import { ok, type Result, refuse } from '../result.ts';

/**
 * The tools of a container's role, on their way into the engine's container that it has now.
 *
 *   none ---made anew, retry---> installing ---installed---> ready ---retry---> installing
 *    ^                             |      |
 *    |                             |      +---fault, cancel---> failed ---retry---> installing
 *    +---the container stops-------+            whatever it is: made anew begins again, deleted forgets it
 *
 * What a stop interrupted is `none` with an id: it is due as soon as the container runs again.
 */
export type RoleSetup =
  | { readonly status: 'none'; readonly id: string | null; readonly detail: string | null }
  | { readonly status: 'installing'; readonly id: string; readonly detail: string | null }
  | { readonly status: 'ready' | 'failed'; readonly id: null; readonly detail: string | null };

export const NO_ROLE_SETUP: RoleSetup = { status: 'none', id: null, detail: null };

/** What happens to a setup by itself. `id` names the try that begins with it. */
export type RoleSetupInput =
  /** Another engine container, in which nothing of the earlier one is left unless it was carried over. */
  | {
      readonly what: 'made_anew';
      readonly installs: boolean;
      readonly wasCarriedOver: boolean;
      readonly running: boolean;
      readonly id: string;
    }
  | { readonly what: 'stopped'; readonly id: string }
  | { readonly what: 'deleted' }
  | { readonly what: 'printed'; readonly detail: string }
  | { readonly what: 'ended'; readonly well: boolean; readonly detail: string };

/** Said of one that is due in a container that does not run. */
export const WAITS = 'continues as soon as the container runs';
export const CANCELLED = 'cancelled';

const due = (id: string, running: boolean): RoleSetup =>
  running ? { status: 'installing', id, detail: null } : { status: 'none', id, detail: WAITS };

/** The setup after that. What does not concern it leaves it as it is. */
export function nextRoleSetup(setup: RoleSetup, input: RoleSetupInput): RoleSetup {
  switch (input.what) {
    case 'made_anew': {
      const { installs, wasCarriedOver, running, id } = input;
      if (wasCarriedOver && setup.id === null) return setup;
      return installs ? due(id, running) : NO_ROLE_SETUP;
    }
    case 'stopped':
      // As another try, so that whoever still works on this one has lost it.
      return setup.id === null ? setup : due(input.id, false);
    case 'deleted':
      return NO_ROLE_SETUP;
    case 'printed':
      return setup.status === 'installing' ? { ...setup, detail: input.detail } : setup;
    case 'ended':
      return { status: input.well ? 'ready' : 'failed', id: null, detail: input.detail };
  }
}

/** Begins anew, also what is ready: the catalogue may have changed. One that is under way stays under way. */
export function retryRoleSetup(
  setup: RoleSetup,
  installs: boolean,
  id: string,
): Result<RoleSetup, DomainError> {
  if (!installs) return refuse({ code: 'role_setup_not_needed' });
  return ok(setup.status === 'installing' ? setup : due(id, true));
}

/** Ends what is under way or due. */
export function cancelRoleSetup(setup: RoleSetup): Result<RoleSetup, DomainError> {
  if (setup.id === null) return refuse({ code: 'role_setup_not_active' });
  const said = setup.status === 'installing' ? setup.detail : null;
  return ok({ status: 'failed', id: null, detail: said === null ? CANCELLED : `${said}\n${CANCELLED}` });
}

/** How much of an installer's output is kept. */
export const TAIL_CHARACTERS = 4_000;

// Sequences for terminals: CSI, OSC up to its end or that of the line, and those of two characters.
const [ESC, BEL] = [String.fromCharCode(27), String.fromCharCode(7)];
const SEQUENCES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}\n]*(?:${BEL}|${ESC}\\\\)?|[@-Z\\\\^_])`,
  'g',
);
const UNPRINTABLE = /[^\P{C}\n\t]/gu;

/** The end of an output as plain text: whole lines, of each only what a terminal would show in the end. */
export function outputTail(output: string): string {
  const lines = output
    .replace(SEQUENCES, '')
    .split(/\r?\n/)
    .map((line) =>
      line
        .slice(line.lastIndexOf('\r') + 1)
        .replace(UNPRINTABLE, '')
        .trimEnd(),
    )
    .filter((line) => line !== '');
  const text = lines.join('\n');
  if (text.length <= TAIL_CHARACTERS) return text;
  const cut = text.slice(-TAIL_CHARACTERS);
  return cut.slice(cut.indexOf('\n') + 1).replace(UNPRINTABLE, '');
}

/** What an event tells of it. */
export const lastLine = (detail: string | null): string | null =>
  detail === null ? null : [...detail.slice(detail.lastIndexOf('\n') + 1)].slice(0, 200).join('');
