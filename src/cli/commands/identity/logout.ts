import { BerthError } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { targetIn } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { connect } from '../../connect.ts';
import { forget, kindOf } from '../../profiles/credentials.ts';
import type { Hosts } from '../../profiles/hosts-file.ts';
import type { Target } from '../../profiles/target.ts';

export const logout = () =>
  command('logout', 'End the saved sign-in, here and at the service').action(
    withCli(async (cli) => {
      const target = targetIn(cli);
      if (target.kind === 'given') {
        throw usageError(
          'BERTH_TOKEN or --token is in use: there is no saved sign-in to end.',
          'Revoke the token: berth tokens revoke NAME',
        );
      }
      if (target.kind === 'anonymous') return cli.notify(`You are not signed in to ${target.server}.`);
      await cli.progress('Signing out', endSession(cli, target));
      await forget(cli.hosts.keyring, target.profile);
      await cli.hosts.update((hosts) => without(hosts, target.name));
      cli.notify(`Signed out of ${target.server}.`);
    }),
  );

/** An API token stays valid: other programs may use it. An unreachable service does not keep the sign-in here. */
async function endSession(cli: Cli, target: Extract<Target, { kind: 'profile' }>): Promise<void> {
  if (kindOf(target.profile) === 'api_token') {
    return cli.notify('The API token stays valid. Revoke it: berth tokens revoke NAME');
  }
  try {
    await connect(target, cli.hosts).api.POST('/api/auth/logout');
  } catch (error) {
    if (error instanceof BerthError && error.status === 0) {
      cli.notify('The service did not respond. End the session there later: berth sessions revoke');
    }
  }
}

function without({ current, profiles }: Hosts, name: string): Hosts {
  const rest = Object.fromEntries(Object.entries(profiles).filter(([each]) => each !== name));
  return { current: current === name ? (Object.keys(rest)[0] ?? null) : current, profiles: rest };
}
