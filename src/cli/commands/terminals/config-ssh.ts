import { targetIn } from '../../cli.ts';
import { command, withCli } from '../../command.ts';
import { fetchHostKeys } from '../../ssh/run-ssh.ts';
import { sshFiles } from '../../ssh/ssh-files.ts';
import { HOST_ENDING, proxyCommand, sshSettings } from '../../ssh/ssh-options.ts';

export const configSsh = () =>
  command('config-ssh', 'Add your containers to the SSH settings of this machine, as NAME.berth')
    .option('--remove', 'undo it')
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, { remove = false, yes = false }) => {
        const files = sshFiles(cli.io);
        if (remove) {
          cli.notify(
            files.remove() ? 'Berth is removed from your SSH settings.' : 'There was nothing to remove.',
          );
          return;
        }
        if (!files.isIncluded()) {
          await cli.ask.confirm('Add the line "Include berth/config" at the start of ~/.ssh/config?', yes);
        }
        const target = targetIn(cli);
        const who = target.kind === 'profile' ? ['--profile', target.name] : ['--server', target.server];
        const settings = sshSettings(target.server, await fetchHostKeys(cli));
        const all = await cli.berth().containers.list().all();
        // Editors list the names, and not the pattern.
        const hosts = [...all.map(({ name }) => name).sort(), '*'].map((name) => `${name}${HOST_ENDING}`);
        files.writeConfig([
          '# Written by berth config-ssh, which replaces it.',
          `Host ${hosts.join(' ')}`,
          `  ProxyCommand ${proxyCommand('%n', who)}`,
          ...settings.map((setting) => `  ${setting}`),
        ]);
        if (!files.isIncluded()) files.include();
        cli.notify(`Connect: ssh NAME${HOST_ENDING}`);
      }),
    );
