import type { Berth, Schemas } from '../../../client/index.ts';
import { type Cli, targetIn } from '../../cli.ts';
import { command, withCli } from '../../command.ts';
import { isTerminal, printableIn } from '../../io/io.ts';
import type { Shown } from '../../io/printer.ts';
import { ago } from '../../values/times.ts';

type Answer = Schemas['Profile'] & { readonly server: string };

const SHOWN: Shown<Answer> = {
  columns: {
    user: ({ username, email }) => (email === null ? username : `${username} (${email})`),
    server: ({ server }) => server,
    role: ({ role, tier }) => `${role}, tier ${tier}`,
    'account ends': ({ ends_at }) => (ends_at === null ? 'never' : ago(ends_at)),
    'second factor': ({ mfa_enabled }) => (mfa_enabled ? 'on' : 'off'),
  },
  name: ({ username }) => username,
};

/** On a terminal only: scripts read the output. An older service has none. */
async function noteAnnouncements({ io, notify }: Cli, berth: Berth): Promise<void> {
  if (!isTerminal(io.err)) return;
  const found = await berth.announcements().catch(() => []);
  for (const { severity, text } of printableIn(found))
    notify(`${severity === 'warning' ? 'Warning' : 'Announcement'}: ${text}`);
}

export const whoami = () =>
  command('whoami', 'Show who is signed in, and where, and what administrators announce').action(
    withCli(async (cli) => {
      const berth = cli.berth();
      const me = await cli.progress('Asking the server', berth.me.get());
      cli.print.one({ ...me, server: targetIn(cli).server }, SHOWN);
      await noteAnnouncements(cli, berth);
    }),
  );
