import { Berth } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { fetchWithNote } from '../../connect.ts';
import { pipedSecret } from '../../io/prompts.ts';
import { refused } from '../../options.ts';
import { isInKeyring, saveSignIn } from '../../profiles/credentials.ts';
import { signInByCode } from '../../profiles/device-login.ts';
import type { Credential, Profile } from '../../profiles/hosts-file.ts';
import { sessionCredential } from '../../profiles/session-token.ts';
import { isUnencrypted, serverAddress, targetOf } from '../../profiles/target.ts';
import { USER_AGENT } from '../../version.ts';

const MAX_TOKEN_BYTES = 1024;
const FROM_INPUT = 'Give the token on standard input: berth login --with-token < token.txt';
const HELP = `
Examples:
  berth login --server https://berth.example.com
  berth login --server https://berth.example.com --with-token < token.txt

The sign-in is saved in $XDG_CONFIG_HOME/berth/hosts.json, which only you can read. With several servers, --profile
gives it a name; without one it has the name of its server.

With --keyring its secret is in the keyring of your desktop (by secret-tool, on macOS by security), and that file names
where. Signing in again keeps it there, until --no-keyring.
`;

export const login = () =>
  command('login', 'Sign in with a code that you confirm in the browser')
    .option('--with-token', 'read an API token from standard input instead')
    .addOption(refused('--token <token>', FROM_INPUT))
    .option('--keyring', 'keep the secret in the keyring of your desktop')
    .option('--no-keyring', 'keep it in the file')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, { withToken = false, keyring }) => {
        const server = await serverFor(cli);
        const name = cli.options.profile ?? new URL(server).host;
        const inKeyring = keyring ?? wasInKeyring(cli, name);
        if (inKeyring) await cli.progress('Asking the keyring', cli.hosts.keyring.check());
        if (isUnencrypted(server)) cli.notify(`Warning: the connection to ${server} is not encrypted.`);
        const profile = withToken ? await byToken(cli, server) : await byCode(cli, server);
        if (!(await saveSignIn(cli.hosts, name, profile, { inKeyring })))
          cli.notify('Warning: the secret of your last sign-in could not be removed from the keyring.');
        cli.notify(`Signed in to ${server} as ${profile.username}.`);
        cli.notify(
          cli.io.env['BERTH_TOKEN'] ? 'BERTH_TOKEN is set and is used instead.' : 'Begin with: berth ls',
        );
      }),
    );

async function serverFor({ ask, hosts, io, options }: Cli): Promise<string> {
  const saved = hosts.read();
  const named = options.profile === undefined ? undefined : saved.profiles[options.profile];
  const known = options.server ?? named?.server ?? (io.env['BERTH_SERVER'] || undefined);
  if (known !== undefined) return serverAddress(known);
  const current = targetOf(saved, {}, { env: {} });
  if (current !== null) return current.server;
  if (!ask.possible) throw usageError('Name the server.', 'For example: berth login --server https://HOST');
  return serverAddress((await ask.line('Address of the server: ')).trim());
}

/** A secret does not move to a file because it is signed in again. */
function wasInKeyring({ hosts }: Cli, name: string): boolean {
  const former = hosts.read().profiles[name];
  return former !== undefined && isInKeyring(former);
}

type NewProfile = Profile & { readonly credential: Credential };

async function byCode(cli: Cli, server: string): Promise<NewProfile> {
  const signedIn = await signInByCode(cli, server);
  return { server, username: signedIn.username, credential: sessionCredential(signedIn) };
}

async function byToken(cli: Cli, server: string): Promise<NewProfile> {
  if (cli.ask.possible) cli.notify('Paste the API token, then press Enter.');
  const token = cli.ask.possible
    ? (await cli.ask.secret('Token: ')).trim()
    : await pipedSecret(cli, 'API token', MAX_TOKEN_BYTES);
  if (token === '') throw usageError('No token was given.', FROM_INPUT);
  const credential = { kind: 'api_token', token } as const;
  const berth = new Berth({
    server,
    token: credential.token,
    headers: { 'user-agent': USER_AGENT },
    fetch: fetchWithNote(server, cli),
  });
  const { user } = await cli.progress('Checking the token', berth.tokens.validate());
  return { server, username: user.username, credential };
}
