import { CommanderError } from '@commander-js/extra-typings';
import { type CliError, ProgramEnd } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import { cliErrorOf } from './failures.ts';
import { type Io, printable } from './io/io.ts';
import { connectIo } from './options.ts';
import { everyCommand, program } from './program.ts';
import { forgetOldTerminals } from './state/left-terminals.ts';

/** Runs one command line, without the program's name. Returns the exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const root = program();
  connectIo(everyCommand(root), io);
  forgetOldTerminals(io.env);
  try {
    if (isCompletion(args)) {
      const { complete } = await import('./completion/complete.ts');
      await complete(root, args.slice(2), io);
    } else {
      await root.parseAsync([...args], { from: 'user' });
    }
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof ProgramEnd) return error.exit;
    const failure = cliErrorOf(error);
    if (failure === null) throw error;
    return report(failure, wantsJson(args), io);
  }
}

/** What a shell asks at each TAB: `berth complete -- …` */
const isCompletion = ([first, second]: readonly string[]): boolean => first === 'complete' && second === '--';

const wantsJson = (args: readonly string[]): boolean =>
  args.some(
    (arg, at) =>
      /^(-ojson|--output=json)$/.test(arg) || (/^(-o|--output)$/.test(args[at - 1] ?? '') && arg === 'json'),
  );

/** The words on stderr; with `-o json` as an object, for programs. */
function report({ message, code, next, exit }: CliError, json: boolean, { err }: Io): number {
  const words = printable(message);
  err.write(
    json ? `${JSON.stringify({ error: words, code, ...(next && { next }) })}\n` : `berth: ${words}\n`,
  );
  if (!json && next !== undefined) err.write(`${next}\n`);
  return exit;
}
