import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Io } from '../io/io.ts';
import { fileDraft } from '../state/file-draft.ts';

const INCLUDE = 'Include berth/config';

export function sshFiles({ env }: Pick<Io, 'env'>) {
  const folder = path.join(env['HOME'] || os.homedir(), '.ssh');
  const own = path.join(folder, 'berth');
  const knownHosts = path.join(own, 'known_hosts');
  const config = path.join(own, 'config');
  const main = path.join(folder, 'config');
  return {
    knownHosts,
    config,

    /** Replaces the keys of this alias; those of other services stay. `keys`: each `type base64`. */
    writeKnownHosts(alias: string, keys: readonly string[]): void {
      const others = linesOf(knownHosts).filter((line) => line !== '' && !line.startsWith(`${alias} `));
      write(knownHosts, [...others, ...keys.map((key) => `${alias} ${key}`)]);
    },

    writeConfig: (lines: readonly string[]): void => write(config, lines),

    /** Whether the user's own settings include Berth's. */
    isIncluded: (): boolean => linesOf(main).some((line) => line.trim() === INCLUDE),

    /** At the start: after a `Host` line it would belong to that host. */
    include: (): void => write(main, [INCLUDE, '', ...linesOf(main)]),

    /** Removes the line and Berth's folder. Returns whether there was anything. */
    remove(): boolean {
      const lines = linesOf(main);
      const at = lines.findIndex((line) => line.trim() === INCLUDE);
      if (at >= 0) write(main, lines.toSpliced(at, lines[at + 1] === '' ? 2 : 1));
      const found = at >= 0 || existsSync(own);
      rmSync(own, { recursive: true, force: true });
      return found;
    },
  };
}

function linesOf(file: string): readonly string[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Readable by its owner only; in one step, so that nothing of the user's is lost. */
function write(file: string, lines: readonly string[]): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fileDraft(file).replaceBy(lines.map((line) => `${line}\n`).join(''));
}
