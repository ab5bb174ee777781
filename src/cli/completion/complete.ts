import type { Command as Completed } from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { type Cli, openCli } from '../cli.ts';
import type { Io } from '../io/io.ts';
import { type AnyCommand, splitGlobalOptions } from '../options.ts';
import type { Value } from './value.ts';
import { VALUES } from './values.ts';

/** A shell waits at TAB: rather no names than late ones. */
const LIMIT_MS = 2000;
/** What no shell evaluates or splits. */
const SAFE = /^[\w.,:@%+/-]+$/;
/** The library adds a command of this name; ours prints the scripts. */
const UNUSED = 'completion-script';

/**
 * Prints what may follow, `value<TAB>description` a line. `args` are the words so far, the last one unfinished. Values
 * of the service are fetched first, since the library completes without waiting.
 */
export async function complete(root: AnyCommand, args: readonly string[], io: Io): Promise<void> {
  const completion = tab(root as unknown as Parameters<typeof tab>[0], { completionCommandName: UNUSED });
  completion.commands.delete(UNUSED);
  const { rest, options } = splitGlobalOptions(args.slice(0, -1));
  const cli = openCli(io, options);
  const words = new Set(rest);
  for (const [name, each] of completion.commands) {
    if (name.split(' ').every((word) => words.has(word))) await addValues(each, cli, args.at(-1) ?? '');
  }
  // why: the library finds no command behind an option
  completion.parse([...rest, ...args.slice(-1)]);
}

async function addValues(
  { arguments: ofCommand, options }: Completed,
  cli: Cli,
  word: string,
): Promise<void> {
  for (const [name, target] of [...ofCommand, ...options]) {
    const find = VALUES[name];
    if (find === undefined) continue;
    const values = await inTime(find(cli, word));
    target.handler = (add: (value: string, description: string) => void) => {
      for (const { value, description } of values) if (SAFE.test(value)) add(value, description);
    };
  }
}

async function inTime(found: Promise<readonly Value[]>): Promise<readonly Value[]> {
  const late = new Promise<readonly Value[]>((resolve) => setTimeout(resolve, LIMIT_MS, []).unref());
  return await Promise.race([found, late]).catch(() => []);
}
