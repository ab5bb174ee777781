import { type ChildProcess, spawn } from 'node:child_process';
import type { Container } from '../../client/index.ts';
import { type Cli, targetIn } from '../cli.ts';
import { CliError } from '../cli-error.ts';
import { sshFiles } from './ssh-files.ts';
import { asVariables, HOST_ENDING, hostKeyAlias, proxyCommand, sshSettings } from './ssh-options.ts';

/** Fetches the service's host keys over HTTPS, so that SSH need not ask about them. */
export async function fetchHostKeys(cli: Cli): Promise<string> {
  const { server } = targetIn(cli);
  const { data } = await cli.berth().api.GET('/api/ssh/host-keys');
  const files = sshFiles(cli.io);
  files.writeKnownHosts(hostKeyAlias(server), data?.keys.map(({ public_key }) => public_key) ?? []);
  return files.knownHosts;
}

/** Runs this machine's `ssh` to a container, over HTTPS. Resolves with its exit code. */
export async function runSsh(
  cli: Cli,
  { id, name }: Container,
  { flags = [], command = [] }: { readonly flags?: readonly string[]; readonly command?: readonly string[] },
): Promise<number> {
  const target = targetIn(cli);
  const settings = sshSettings(target.server, await fetchHostKeys(cli));
  const options = [`ProxyCommand ${proxyCommand(id)}`, ...settings].map((setting) =>
    setting.replace(' ', '='),
  );
  const args = [
    ...options.flatMap((option) => ['-o', option]),
    ...flags,
    `${name}${HOST_ENDING}`,
    ...command,
  ];
  const env = { ...cli.io.env, ...asVariables(target) };
  return await new Promise((resolve, reject) => {
    const child = spawn('ssh', args, { stdio: 'inherit', env });
    const release = passSignals(child);
    child.once('error', () =>
      reject(
        new CliError('ssh could not be started.', { next: 'Install OpenSSH: apt install openssh-client' }),
      ),
    );
    child.once('close', (code) => {
      release();
      resolve(code ?? SSH_FAILED);
    });
  });
}

const SSH_FAILED = 255;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What ends this process ends ssh: alone it would go on to forward ports. */
function passSignals(child: ChildProcess): () => void {
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  return () => {
    for (const signal of SIGNALS) process.off(signal, pass);
  };
}
