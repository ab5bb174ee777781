import { CliError } from '../../cli-error.ts';
import { command } from '../../command.ts';

/** In the folder of the service another program runs this, before this one. */
export const onTheService = (words: string): CliError =>
  new CliError(`berth ${words} works on the server itself.`, {
    code: 'elsewhere',
    next: `There, in its folder: npx berth ${words}`,
  });

export const migrate = () =>
  command('migrate', 'On the server: bring its database up to date').action(() => {
    throw onTheService('migrate');
  });
