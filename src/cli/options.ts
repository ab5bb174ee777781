import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { usageError } from './cli-error.ts';
import type { Io } from './io/io.ts';
import { OUTPUT_FORMS, type OutputForm } from './io/printer.ts';

/** The options that every command takes, before or after its name. */
export type GlobalOptions = {
  readonly server?: string;
  readonly token?: string;
  readonly profile?: string;
  readonly output: OutputForm;
  readonly color: boolean;
};

const GROUP = 'Global options:';

const GLOBAL = [
  new Option('--server <url>', 'the server (or BERTH_SERVER)'),
  new Option(
    '--token <token>',
    'an API token; others on this machine can read it here, so prefer BERTH_TOKEN',
  ),
  new Option('--profile <name>', 'a saved sign-in (or BERTH_PROFILE)'),
  new Option('-o, --output <form>', 'how to print data').choices(OUTPUT_FORMS),
  new Option('--no-color', 'no colours (or NO_COLOR)'),
];

// biome-ignore lint/suspicious/noExplicitAny: any command, whatever its arguments
export type AnyCommand = Command<any, any, any>;

/** Adds the global options that a command does not have by {@link refused}. */
export function addGlobalOptions<C extends AnyCommand>(command: C): C {
  for (const option of GLOBAL) {
    const own = command.options.find(({ long }) => long === option.long);
    if (own === undefined) command.addOption(option.helpGroup(GROUP));
    else refuseWhenGiven(command, own);
  }
  command.addHelpOption(new Option('-h, --help', 'print this help').helpGroup(GROUP));
  return command;
}

/** What to do instead of giving an option that a command refuses. */
const adviceFor = new WeakMap<Option, string>();

/** A global option that would change nothing: the command refuses it, before or after its name, with this advice. */
export function refused<Flags extends '--server <url>' | '--token <token>' | '--profile <name>'>(
  flags: Flags,
  advice = 'Leave it out.',
) {
  const option = new Option(flags).hideHelp();
  adviceFor.set(option, advice);
  return option;
}

function refuseWhenGiven(command: AnyCommand, option: Option): void {
  command.hook('preAction', () => {
    if (!lineageOf(command).some((each) => each.getOptionValue(option.attributeName()) !== undefined)) return;
    const words = lineageOf(command).map((each) => each.name());
    throw usageError(`${words.join(' ')} does not take ${option.long}.`, adviceFor.get(option));
  });
}

const ioOfRoots = new WeakMap<AnyCommand, Io>();

/**
 * Lets a command line read and write through `io`; `every` are its commands, the root first. `writeErr` gets what is said
 * about a wrong command line.
 */
export function connectIo(
  every: readonly [AnyCommand, ...AnyCommand[]],
  io: Io,
  writeErr: (text: string) => void,
): void {
  ioOfRoots.set(every[0], io);
  const writeOut = (text: string): void => void io.out.write(text);
  for (const each of every) each.configureOutput({ writeOut, writeErr });
}

/** What the command line of a command reads from and writes to. */
export function ioOf(command: AnyCommand): Io {
  const io = ioOfRoots.get(lineageOf(command)[0] as AnyCommand);
  if (io === undefined) throw new Error('the command line has no input and output');
  return io;
}

/** From the root to the command. */
function lineageOf(command: AnyCommand): readonly AnyCommand[] {
  const lineage: AnyCommand[] = [];
  for (let at: AnyCommand | null = command; at !== null; at = at.parent) lineage.unshift(at);
  return lineage;
}

/** The global options of a command line that is not complete, and its other words. */
export function splitGlobalOptions(words: readonly string[]) {
  const reader = addGlobalOptions(new Command());
  reader.exitOverride().configureOutput({ writeErr: () => {} });
  const others = (): readonly string[] => {
    try {
      const { operands, unknown } = reader.parseOptions([...words]);
      return [...operands, ...unknown];
    } catch (error) {
      if (error instanceof CommanderError) return words;
      throw error;
    }
  };
  const rest = words.includes('--') ? words : others();
  return { rest, options: globalOptionsOf(reader) };
}

/** The nearest to the action wins: `berth -o name ls -o json` prints JSON. */
export function globalOptionsOf(command: AnyCommand): GlobalOptions {
  const given = lineageOf(command).map((each) => each.opts() as Partial<GlobalOptions>);
  return {
    output: 'table',
    ...Object.assign({}, ...given),
    color: given.every(({ color }) => color !== false),
  };
}
