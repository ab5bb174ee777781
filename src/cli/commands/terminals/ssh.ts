import type { Cli } from '../../cli.ts';
import { ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { runSsh } from '../../ssh/run-ssh.ts';
import { HOST_ENDING } from '../../ssh/ssh-options.ts';
import { findContainer } from '../../values/find.ts';

export const ssh = () =>
  command('ssh', 'Connect to a container with ssh, over HTTPS')
    .argument('[container]', 'its name or id')
    .argument('[command...]', 'what to run instead of a shell, after --')
    .option('--stdio', 'carry an SSH connection on standard input and output, as a ProxyCommand')
    .action(
      withCli(async (cli, given, words, { stdio = false }) => {
        if (stdio && words.length > 0) throw usageError('Give --stdio or a program, not both.');
        if (stdio) return await carry(cli, given);
        throw new ProgramEnd(await runSsh(cli, await findContainer(cli, given), { command: words }));
      }),
    );

async function carry(cli: Cli, given: string | undefined): Promise<void> {
  if (given === undefined) throw usageError('Name a container.');
  const name = given.endsWith(HOST_ENDING) ? given.slice(0, -HOST_ENDING.length) : given;
  const stream = await (await findContainer(cli, name)).ssh();
  const { in: input, out } = cli.io;
  const sending = (async () => {
    for await (const chunk of input as AsyncIterable<Buffer<ArrayBuffer>>) await stream.write(chunk);
    stream.end();
  })();
  for await (const bytes of stream.bytes) {
    if (!out.write(bytes)) await new Promise((resolve) => out.once('drain', resolve));
  }
  input.destroy();
  await sending.catch(() => {});
}
