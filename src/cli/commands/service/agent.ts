import { CliError } from '../../cli-error.ts';
import { command } from '../../command.ts';

/** The agent is a program of its own: a checkout starts it before this command is asked. */
export const agent = () =>
  command('agent', 'Offer the shells, commands and files of this machine in Berth')
    .argument('[words...]', 'its own commands and options')
    .allowUnknownOption()
    .action(() => {
      throw new CliError('berth agent is not in this file: it needs a native module.', {
        code: 'elsewhere',
        next: 'Get it from your service: curl -fsSL URL/agent/berth-agent.tar.gz | tar -xz\nThen: node berth-agent/agent.mjs --help',
      });
    });
