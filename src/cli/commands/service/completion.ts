import { Argument } from '@commander-js/extra-typings';
import { command, withCli } from '../../command.ts';
import { SHELLS, scriptFor } from '../../completion/scripts.ts';

const HELP = `
Put one of these into your shell's start-up file:
  bash   source <(berth completion bash)
  zsh    source <(berth completion zsh)
  fish   berth completion fish | source
`;

export const completion = () =>
  command('completion', 'Print the script that completes berth in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action(withCli(async ({ print }, shell) => print.text(scriptFor(shell))));
