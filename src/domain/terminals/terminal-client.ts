import { MAIN_CONNECTION, muxSessionName } from './terminal.ts';

/** What a terminal is shown in. `command`: the command line, or another program. */
export type TerminalClient = 'browser' | 'command' | 'ssh';

/** Every browser calls itself Mozilla. */
export function terminalClient(isSsh: boolean, userAgent: string): TerminalClient {
  if (isSsh) return 'ssh';
  return userAgent.startsWith('Mozilla/') ? 'browser' : 'command';
}

/** An open terminal, as far as it decides who sees the same. `owner`: of its container. */
export type ShownTerminal = {
  readonly dbId: string;
  readonly owner: boolean;
  readonly muxSession: string | null;
};

const MAIN_SESSION = muxSessionName(MAIN_CONNECTION);

/** Participants see the owner's main session. null: seen by nobody else. */
const seenIn = ({ dbId, owner, muxSession }: ShownTerminal): string | null => {
  const session = owner ? muxSession : MAIN_SESSION;
  return session === null ? null : `${dbId} ${session}`;
};

/** How many other terminals of the list show the same session as each. */
export function viewersOf<T extends ShownTerminal>(terminals: readonly T[]): (terminal: T) => number {
  const counts = new Map<string, number>();
  for (const terminal of terminals) {
    const seen = seenIn(terminal);
    if (seen !== null) counts.set(seen, (counts.get(seen) ?? 0) + 1);
  }
  return (terminal) => {
    const seen = seenIn(terminal);
    return seen === null ? 0 : (counts.get(seen) ?? 1) - 1;
  };
}
