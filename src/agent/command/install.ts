import { userInfo } from 'node:os';
import { SetupFault } from '../identity/credential.ts';
import { enrol } from '../identity/enrol.ts';
import { identityFile, identityFor, keepIdentity } from '../identity/state-file.ts';
import {
  checkSystemd,
  giveTo,
  type InstallPaths,
  installPaths,
  keepToken,
  removeUnit,
  startUnit,
  stayingProgram,
} from '../install/install.ts';
import { type UnitOptions, unitText } from '../install/unit.ts';
import { agentCommand, say, secretFromInput, serverOf } from './options.ts';

const isRoot = (): boolean => process.getuid?.() === 0;

/** `berth agent install`: a systemd unit that starts the agent with the machine. */
export const install = () =>
  agentCommand('install', 'Start the agent with this machine, by systemd')
    .option('--user <user>', 'whose shells it offers (as root only; default: root)')
    .option('--print', 'print the unit and change nothing', false)
    .option('--with-token', 'read an API token from standard input instead of a one-time code', false)
    .action(async (options) => {
      const { print, withToken } = options;
      const server = serverOf(options);
      const isSystem = isRoot();
      if (options.user !== undefined && !isSystem) throw new SetupFault('only root can choose the user');
      const paths = installPaths(isSystem, process.env);
      const unit: UnitOptions = {
        program: [process.execPath, await stayingProgram(process.argv[1] ?? '', paths, !print)],
        server,
        isInsecure: options.insecure,
        user: isSystem ? (options.user ?? 'root') : null,
        tokenFile: withToken ? paths.token : null,
      };
      if (print) {
        process.stdout.write(unitText(unit));
        return;
      }
      await checkSystemd(isSystem);
      const secret = await secretFromInput(withToken ? 'API token' : 'Code');
      const name = await prepare(paths, unit, { secret, withToken, name: options.name });
      await startUnit(paths, unit);
      say(`"${name}" is installed as ${unit.user ?? userInfo().username} and has started`);
      say(`its log: journalctl ${isSystem ? '' : '--user '}-u berth-agent`);
      if (!isSystem)
        say(`to keep it when nobody is signed in: loginctl enable-linger ${userInfo().username}`);
    });

type Wanted = { readonly secret: string; readonly withToken: boolean; readonly name: string | undefined };

/** Writes the token or exchanges the code for one. Returns the machine's name. */
async function prepare(
  paths: InstallPaths,
  { server, user }: UnitOptions,
  { secret, withToken, name }: Wanted,
) {
  const identity = await identityFor(paths.state, server, name);
  if (withToken) await keepToken(paths.token, secret);
  else await keepIdentity(paths.state, server, { ...identity, token: await enrol(server, secret, identity) });
  if (user !== null) await giveTo(user, paths.state, [identityFile(server)]);
  return identity.name;
}

/** `berth agent uninstall` */
export const uninstall = () =>
  agentCommand('uninstall', 'Stop the agent, and remove its unit, token and identity').action(async () => {
    await removeUnit(installPaths(isRoot(), process.env), isRoot());
    say('removed. Delete it in Berth too: it stays in the list as stopped.');
  });
