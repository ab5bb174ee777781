import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TerminalResume } from '../../client/index.ts';
import { stateFolder } from './state-folder.ts';

type Env = Readonly<Record<string, string | undefined>>;
/** Without `input` when all that was typed has arrived. */
type Kept = Omit<TerminalResume, 'input'> & { readonly input?: string };
type Left = { readonly leftAt: number; readonly resume: Kept };
type Terminals = Readonly<Record<string, Left>>;

/** As long as the service keeps `main` for a return. */
const KEPT_MS = 300_000;

const fileIn = (env: Env): string => path.join(stateFolder(env), 'terminals.json');

/** The terminals that `berth shell` has left, so that the next one continues them with all that was typed. */
export function leftTerminals(env: Env) {
  const change = (work: (before: Terminals) => Terminals): void => {
    const file = fileIn(env);
    write(file, work(freshOf(read(file))));
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
        return taken === undefined ? null : { input: '', ...taken.resume };
      } catch {
        return null;
      }
    },

    /** Remembers where a terminal was left. */
    keep(key: string, resume: TerminalResume | null): void {
      if (resume === null) return;
      const { input, ...position } = resume;
      const kept = input === '' ? position : resume;
      try {
        change((before) => ({ ...before, [key]: { leftAt: Date.now(), resume: kept } }));
      } catch {
        // the next terminal starts with a redraw
      }
    },
  };
}

/** Removes the terminals that nobody returns to any more: they may have what was typed. Every command does it. */
export function forgetOldTerminals(env: Env): void {
  try {
    const file = fileIn(env);
    const before = read(file);
    const fresh = freshOf(before);
    if (Object.keys(fresh).length < Object.keys(before).length) write(file, fresh);
  } catch {
    // a later command does it
  }
}

const freshOf = (terminals: Terminals): Terminals =>
  Object.fromEntries(Object.entries(terminals).filter(([, { leftAt }]) => Date.now() - leftAt < KEPT_MS));

function write(file: string, terminals: Terminals): void {
  if (Object.keys(terminals).length === 0) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(terminals), { mode: 0o600 });
}

function read(file: string): Terminals {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Terminals;
  } catch {
    return {};
  }
}
