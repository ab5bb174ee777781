import { BerthError } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { targetIn } from '../../cli.ts';
import { CliError, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { connect } from '../../connect.ts';
import { credentialOf, forget, isInKeyring, kindOf } from '../../profiles/credentials.ts';
import type { Hosts } from '../../profiles/hosts-file.ts';
import type { Target } from '../../profiles/target.ts';

type OfProfile = Extract<Target, { kind: 'profile' }>;

export const logout = () =>
  command('logout', 'End the saved sign-in, here and on the server')
    .option('--no-keyring', 'remove it here although its secret stays in the keyring')
    .action(
      withCli(async (cli, { keyring }) => {
        const target = targetIn(cli);
        if (target.kind === 'given') {
          throw usageError(
            'BERTH_TOKEN or --token is in use: there is no saved sign-in to end.',
            'Revoke the token: berth tokens revoke NAME',
          );
        }
        if (target.kind === 'anonymous') return cli.notify(`You are not signed in to ${target.server}.`);
        if (isInKeyring(target.profile) && !keyring) return await leaveInKeyring(cli, target);
        await signOut(cli, target);
      }),
    );

async function signOut(cli: Cli, target: OfProfile): Promise<void> {
  let isEnded = true;
  try {
    isEnded = await cli.progress('Signing out', endSession(cli, target));
    await forget(cli.hosts.keyring, target.profile);
  } catch (error) {
    throw isOf(error, 'no_keyring') ? withAdvice(error) : error;
  }
  await cli.hosts.update((hosts) => without(hosts, target.name));
  cli.notify(isEnded ? `Signed out of ${target.server}.` : removed(target));
}

async function leaveInKeyring(cli: Cli, target: OfProfile): Promise<void> {
  await cli.hosts.update((hosts) => without(hosts, target.name));
  cli.notify(`${removed(target)} Its secret is still in the keyring.`);
  cli.notify(kindOf(target.profile) === 'session' ? END_LATER : TOKEN_STAYS);
}

const removed = ({ server }: OfProfile): string => `Removed the sign-in to ${server} here.`;

const TOKEN_STAYS = 'The API token stays valid. Revoke it: berth tokens revoke NAME';
const END_LATER = 'End the session on the server later: berth sessions revoke';

/**
 * Whether no session is left at the service. An API token stays valid: other programs may use it. A service that does
 * not end the session does not keep the sign-in here.
 */
async function endSession(cli: Cli, target: OfProfile): Promise<boolean> {
  const { profile } = target;
  if (kindOf(profile) === 'api_token') {
    cli.notify(TOKEN_STAYS);
    return true;
  }
  if ((await credentialOf(cli.hosts.keyring, profile, { fresh: true })) === null) {
    cli.notify(`Your sign-in is no longer in the keyring. ${END_LATER}`);
    return false;
  }
  try {
    await connect(target, cli).api.POST('/api/auth/logout');
    return true;
  } catch (error) {
    if (isOf(error, 'not_signed_in')) return true;
    if (!(error instanceof BerthError)) throw error;
    if (error.status === 401) return true;
    const words = error.status === 0 ? 'did not respond' : 'did not end the session';
    cli.notify(`The service ${words}. ${END_LATER}`);
    return false;
  }
}

const isOf = (error: unknown, code: string): error is CliError =>
  error instanceof CliError && error.code === code;

const withAdvice = ({ message, code }: CliError): CliError =>
  new CliError(message, {
    code,
    next: 'Unlock it in your desktop, or remove the sign-in here alone: berth logout --no-keyring',
  });

function without({ current, profiles }: Hosts, name: string): Hosts {
  const rest = Object.fromEntries(Object.entries(profiles).filter(([each]) => each !== name));
  return { current: current === name ? (Object.keys(rest)[0] ?? null) : current, profiles: rest };
}
