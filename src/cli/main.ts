import { CommanderError } from '@commander-js/extra-typings';
import { type CliError, ProgramEnd, usageError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import { cliErrorOf } from './failures.ts';
import { type Io, printable } from './io/io.ts';
import { connectIo } from './options.ts';
import { everyCommand, program } from './program.ts';
import { forgetOldTerminals } from './state/left-terminals.ts';

/** Runs one command line, without the program's name. Returns the exit code. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const root = program();
  const every = everyCommand(root);
  const said: string[] = [];
  connectIo(every, io, (text) => said.push(text));
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
    const json = every.some((each) => each.getOptionValue('output') === 'json');
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      if (json || wantsJson(args)) return report(wrongLine(error), true, io);
      io.err.write(said.join(''));
      return EXIT.usage;
    }
    if (error instanceof ProgramEnd) return error.exit;
    const failure = cliErrorOf(error);
    if (failure === null) throw error;
    return report(failure, json, io);
  }
}

/** What a shell asks at each TAB: `berth complete -- …` */
const isCompletion = ([first, second]: readonly string[]): boolean => first === 'complete' && second === '--';

/** Of a wrong command line, which is read to its fault only. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  return own.some(
    (arg, at) =>
      /^(-ojson|--output=json)$/.test(arg) || (/^(-o|--output)$/.test(own[at - 1] ?? '') && arg === 'json'),
  );
}

/** What Commander says, as a failure of the command. */
function wrongLine({ code, message }: CommanderError): CliError {
  if (code === 'commander.help') return usageError('The command is not complete.', SEE_HELP);
  const [words = '', ...advice] = message.replace(/^error: /, '').split('\n');
  return usageError(`${words}.`.replace(/\.+$/, '.'), advice.join(' ').replace(/^\(|\)$/g, '') || SEE_HELP);
}

const SEE_HELP = 'See its options with --help.';

/** The words on stderr; with `-o json` as an object, for programs. */
function report({ message, code, next, exit }: CliError, json: boolean, { err }: Io): number {
  const words = printable(message);
  err.write(
    json ? `${JSON.stringify({ error: words, code, ...(next && { next }) })}\n` : `berth: ${words}\n`,
  );
  if (!json && next !== undefined) err.write(`${next}\n`);
  return exit;
}
