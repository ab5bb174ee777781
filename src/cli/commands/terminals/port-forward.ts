import { ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { runSsh } from '../../ssh/run-ssh.ts';
import { findContainer } from '../../values/find.ts';

export const portForward = () =>
  command('port-forward', 'Forward ports of a container to this machine, until interrupted')
    .argument('<container>', 'its name or id')
    .argument('<ports...>', 'PORT, or LOCAL:PORT for another port on this machine')
    .action(
      withCli(async (cli, given, ports) => {
        const pairs = ports.map(pairOf);
        const container = await findContainer(cli, given);
        for (const { local, remote } of pairs)
          cli.notify(`http://127.0.0.1:${local} is port ${remote} of ${container.name}.`);
        const forwards = pairs.flatMap(({ local, remote }) => [
          '-L',
          `127.0.0.1:${local}:localhost:${remote}`,
        ]);
        const flags = ['-N', '-o', 'ExitOnForwardFailure=yes', ...forwards];
        throw new ProgramEnd(await runSsh(cli, container, { flags }));
      }),
    );

const PORTS = /^(?:(\d{1,5}):)?(\d{1,5})$/;
const isPort = (port: number): boolean => port >= 1 && port <= 65_535;

function pairOf(text: string): { readonly local: number; readonly remote: number } {
  const [, local, remote] = PORTS.exec(text) ?? [];
  const pair = { local: Number(local ?? remote), remote: Number(remote) };
  if (remote === undefined || !isPort(pair.local) || !isPort(pair.remote))
    throw usageError(`"${text}" is not a port.`, 'Give 3000, or 8080:3000 for port 8080 on this machine.');
  return pair;
}
