import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { readAll } from '../../io/prompts.ts';

const MAX_BYTES = 1024;

export const unlock = () =>
  command('unlock', 'Unlock your session with the passcode of the screen lock').action(
    withCli(async (cli) => {
      const { ask, io } = cli;
      const given = ask.possible ? await ask.secret('Passcode: ') : (await readAll(io, MAX_BYTES)).trim();
      if (given === '') throw usageError('No passcode was given.');
      await cli.berth().api.POST('/api/sessions/unlock', { body: { passcode: given } });
      cli.notify('Unlocked.');
    }),
  );
