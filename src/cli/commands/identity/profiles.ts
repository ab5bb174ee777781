import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { refused } from '../../options.ts';
import { isInKeyring, kindOf } from '../../profiles/credentials.ts';
import { unknownProfile } from '../../profiles/target.ts';

type Listed = {
  readonly name: string;
  readonly server: string;
  readonly username: string;
  readonly kind: string;
  readonly kept: 'file' | 'keyring';
  readonly current: boolean;
};

export const profiles = () => group('profiles', 'Saved sign-ins to several servers', [list(), use()]);

const list = () =>
  command('ls', 'List the saved sign-ins')
    .alias('list')
    .addOption(refused('--server <url>'))
    .addOption(refused('--token <token>'))
    .addOption(refused('--profile <name>'))
    .action(
      withCli(async ({ hosts, print }) => {
        const { current, profiles: saved } = hosts.read();
        const listed = Object.entries(saved).map(([name, profile]): Listed => {
          const { server, username } = profile;
          const kind = kindOf(profile) === 'session' ? 'session' : 'API token';
          const kept = isInKeyring(profile) ? 'keyring' : 'file';
          return { name, server, username, kind, kept, current: name === current };
        });
        print.list(listed, PROFILES);
      }),
    );

const use = () =>
  command('use', 'Choose the sign-in to use when none is given')
    .argument('<profile>', 'its name')
    .addOption(refused('--server <url>'))
    .addOption(refused('--token <token>'))
    .addOption(refused('--profile <name>', 'Give its name alone: berth profiles use NAME'))
    .action(
      withCli(async ({ hosts, notify }, name) => {
        const { profiles: saved } = await hosts.update((before) => {
          if (before.profiles[name] === undefined) throw unknownProfile(name, before);
          return { ...before, current: name };
        });
        notify(`In use: ${name}, ${saved[name]?.server}`);
      }),
    );

const PROFILES: Shown<Listed> = {
  columns: {
    '': ({ current }) => (current ? '*' : ''),
    name: ({ name }) => name,
    server: ({ server }) => server,
    user: ({ username }) => username,
    by: ({ kind }) => kind,
    kept: ({ kept }) => `in the ${kept}`,
  },
  name: ({ name }) => name,
  empty: 'No saved sign-ins. Sign in: berth login --server URL',
};
