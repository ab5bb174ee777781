import { type Command, Option } from '@commander-js/extra-typings';
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
  new Option('--server <url>', 'the service (or BERTH_SERVER)'),
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

export function addGlobalOptions<C extends AnyCommand>(command: C): C {
  for (const option of GLOBAL) command.addOption(option.helpGroup(GROUP));
  command.addHelpOption(new Option('-h, --help', 'print this help').helpGroup(GROUP));
  return command;
}

/** The nearest to the action wins: `berth -o name ls -o json` prints JSON. */
export function globalOptionsOf(command: AnyCommand): GlobalOptions {
  const lineage: AnyCommand[] = [];
  for (let at: AnyCommand | null = command; at !== null; at = at.parent) lineage.unshift(at);
  const given = lineage.map((each) => each.opts() as Partial<GlobalOptions>);
  return {
    output: 'table',
    ...Object.assign({}, ...given),
    color: given.every(({ color }) => color !== false),
  };
}
