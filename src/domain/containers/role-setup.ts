import type { DomainError } from '../errors.ts';
import { ok, type Result, refuse } from '../result.ts';

/**
 * The installation of a role's tools in the present engine container.
 *
 *   none ---recreated, retry---> installing ---installed---> ready ---retry---> installing
 *    ^                             |      |
 *    |                             |      +---fault, cancel---> failed ---retry---> installing
 *    +---the container stops-------+            from any state: a recreate restarts it, a delete forgets it
 *
 * A stopped installation is `none` with an id: it is due when the container runs again.
 */
export type RoleSetup =
  | { readonly status: 'none'; readonly id: string | null; readonly detail: string | null }
  | { readonly status: 'installing'; readonly id: string; readonly detail: string | null }
  | { readonly status: 'ready' | 'failed'; readonly id: null; readonly detail: string | null };

export const NO_ROLE_SETUP: RoleSetup = { status: 'none', id: null, detail: null };

/** What happens to a setup by itself. `id` identifies the attempt that it starts. */
export type RoleSetupInput =
  /** A new engine container, which has the earlier one's tools only if they were carried over. */
  | {
      readonly what: 'recreated';
      readonly installs: boolean;
      readonly wasCarriedOver: boolean;
      readonly running: boolean;
      readonly id: string;
    }
  | { readonly what: 'stopped'; readonly id: string }
  | { readonly what: 'deleted' }
  | { readonly what: 'printed'; readonly detail: string }
  | { readonly what: 'ended'; readonly well: boolean; readonly detail: string };

/** Shown for a due setup of a stopped container. */
export const WAITS = 'continues as soon as the container runs';
export const CANCELLED = 'cancelled';

const due = (id: string, running: boolean): RoleSetup =>
  running ? { status: 'installing', id, detail: null } : { status: 'none', id, detail: WAITS };

/** The setup after the input. Irrelevant input changes nothing. */
export function nextRoleSetup(setup: RoleSetup, input: RoleSetupInput): RoleSetup {
  switch (input.what) {
    case 'recreated': {
      const { installs, wasCarriedOver, running, id } = input;
      if (wasCarriedOver && setup.id === null) return setup;
      return installs ? due(id, running) : NO_ROLE_SETUP;
    }
    case 'stopped':
      // A new attempt, so that a worker still on this one loses it.
      return setup.id === null ? setup : due(input.id, false);
    case 'deleted':
      return NO_ROLE_SETUP;
    case 'printed':
      return setup.status === 'installing' ? { ...setup, detail: input.detail } : setup;
    case 'ended':
      return { status: input.well ? 'ready' : 'failed', id: null, detail: input.detail };
  }
}

/** Restarts it, even a ready one: the catalogue may have changed. A running one continues. */
export function retryRoleSetup(
  setup: RoleSetup,
  installs: boolean,
  id: string,
): Result<RoleSetup, DomainError> {
  if (!installs) return refuse({ code: 'role_setup_not_needed' });
  return ok(setup.status === 'installing' ? setup : due(id, true));
}

export function cancelRoleSetup(setup: RoleSetup): Result<RoleSetup, DomainError> {
  if (setup.id === null) return refuse({ code: 'role_setup_not_active' });
  const said = setup.status === 'installing' ? setup.detail : null;
  return ok({ status: 'failed', id: null, detail: said === null ? CANCELLED : `${said}\n${CANCELLED}` });
}

export const TAIL_CHARACTERS = 4_000;

// Terminal sequences: CSI; OSC up to its end or that of the line; and those of two characters.
const [ESC, BEL] = [String.fromCharCode(27), String.fromCharCode(7)];
const SEQUENCES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}\n]*(?:${BEL}|${ESC}\\\\)?|[@-Z\\\\^_])`,
  'g',
);
const UNPRINTABLE = /[^\P{C}\n\t]/gu;

/** The end of an output as plain text: whole lines, each as a terminal would finally show it. */
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

/** The part of the detail that events carry. */
export const lastLine = (detail: string | null): string | null =>
  detail === null ? null : [...detail.slice(detail.lastIndexOf('\n') + 1)].slice(0, 200).join('');
