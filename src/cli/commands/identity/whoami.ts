import type { Schemas } from '../../../client/index.ts';
import { targetIn } from '../../cli.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';

type Answer = Schemas['Profile'] & { readonly server: string };

const SHOWN: Shown<Answer> = {
  columns: {
    user: ({ username, email }) => (email === null ? username : `${username} (${email})`),
    server: ({ server }) => server,
    role: ({ role, tier }) => `${role}, tier ${tier}`,
    'second factor': ({ mfa_enabled }) => (mfa_enabled ? 'on' : 'off'),
  },
  name: ({ username }) => username,
};

export const whoami = () =>
  command('whoami', 'Show who is signed in, and where').action(
    withCli(async (cli) => {
      const me = await cli.progress('Asking the service', cli.berth().me.get());
      cli.print.one({ ...me, server: targetIn(cli).server }, SHOWN);
    }),
  );
