import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TerminalResume } from '../../client/index.ts';
import { stateFolder } from './state-folder.ts';

type Left = { readonly leftAt: number; readonly resume: TerminalResume };
type Terminals = Readonly<Record<string, Left>>;

/** As long as the service keeps `main` for a return. */
const KEPT_MS = 300_000;

/** The terminals that `berth shell` has left, so that the next one continues them with all that was typed. */
export function leftTerminals(env: Readonly<Record<string, string | undefined>>) {
  const file = path.join(stateFolder(env), 'terminals.json');
  const change = (work: (before: Terminals) => Terminals): void => {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const isFresh = ([, { leftAt }]: [string, Left]): boolean => Date.now() - leftAt < KEPT_MS;
    const fresh = Object.fromEntries(Object.entries(read(file)).filter(isFresh));
    // It may contain what was typed, such as a password.
    writeFileSync(file, JSON.stringify(work(fresh)), { mode: 0o600 });
  };
  return {
    /** Where the terminal was left, and forgets it; null if it is unknown or the folder cannot be written. */
    take(key: string): TerminalResume | null {
      try {
        let taken: Left | undefined;
        change(({ [key]: found, ...others }) => {
          taken = found;
          return others;
        });
        return taken?.resume ?? null;
      } catch {
        return null;
      }
    },

    /** Remembers where a terminal was left. */
    keep(key: string, resume: TerminalResume | null): void {
      if (resume === null) return;
      try {
        change((before) => ({ ...before, [key]: { leftAt: Date.now(), resume } }));
      } catch {
        // the next terminal starts with a redraw
      }
    },
  };
}

function read(file: string): Terminals {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Terminals;
  } catch {
    return {};
  }
}
