import { type Argument, Command } from '@commander-js/extra-typings';
import { EXIT } from './exit-codes.ts';
import { type AnyCommand, addGlobalOptions } from './options.ts';
import { WINGS } from './registry.ts';
import { VERSION } from './version.ts';

const EXAMPLES = `
Begin with:
  berth login --server https://berth.example.com
  berth create dev
  berth ls

Exit codes: ${EXIT.ok} done, ${EXIT.failed} failed, ${EXIT.usage} wrong command line, ${EXIT.notSignedIn} not signed in, ${EXIT.interrupted} interrupted.
exec, attach, shell and ssh end with the exit code of their program.
`;

/** The whole command, new for each run. */
export function program(): AnyCommand {
  const root: AnyCommand = new Command('berth')
    .description('Container workspaces from the command line')
    .version(VERSION, '--version', 'print the version')
    // before any subcommand: those that run a program pass its options on
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES);
  for (const [wing, commands] of Object.entries(WINGS)) {
    root.commandsGroup(`${wing}:`);
    for (const make of commands) root.addCommand(make());
  }
  root.commandsGroup('Help:');
  for (const each of everyCommand(root)) finish(each);
  return root;
}

/** What all commands share. */
const finish = (command: AnyCommand): AnyCommand =>
  addGlobalOptions(command)
    .exitOverride()
    .showHelpAfterError('(see its options with --help)')
    .configureHelp({ subcommandTerm: termOf });

/** Every command has options, and an alias is in its own help. */
const termOf = (command: Pick<AnyCommand, 'name' | 'registeredArguments'>): string =>
  [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');

function argumentTerm(argument: Argument): string {
  const term = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${term}>` : `[${term}]`;
}

/** A command and all below it. */
export const everyCommand = (root: AnyCommand): readonly [AnyCommand, ...AnyCommand[]] => [
  root,
  ...root.commands.flatMap(everyCommand),
];
