import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { pipedSecret } from '../../io/prompts.ts';

const MAX_BYTES = 1024;

export const unlock = () =>
  command('unlock', 'Unlock your session with the passcode of the screen lock').action(
    withCli(async (cli) => {
      const { ask } = cli;
      const { api } = cli.berth();
      const given = ask.possible
        ? await ask.secret('Passcode: ')
        : await pipedSecret(cli, 'passcode', MAX_BYTES);
      if (given === '')
        throw usageError('No passcode was given.', 'For example: berth unlock < passcode.txt');
      await api.POST('/api/sessions/unlock', { body: { passcode: given } });
      cli.notify('Unlocked.');
    }),
  );
