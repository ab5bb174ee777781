import type { SshStream } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { CliError, ProgramEnd, usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { writeTo } from '../../io/streams.ts';
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
  const sending = send(input, stream);
  try {
    for await (const bytes of stream.bytes) await writeTo(out, bytes);
  } finally {
    input.destroy();
  }
  const fault = await sending;
  if (fault !== null) throw new CliError(`Could not read the rest of standard input: ${fault.message}`);
}

/** Sends all of the input, and then ends the stream. Returns the fault of an input that cannot be read to its end. */
async function send(input: Cli['io']['in'], stream: SshStream): Promise<Error | null> {
  try {
    for await (const chunk of input as AsyncIterable<Buffer<ArrayBuffer>>) await stream.write(chunk);
    return null;
  } catch (error) {
    // Without a fault of the input, the stream has ended.
    return error === input.errored ? input.errored : null;
  } finally {
    stream.end();
  }
}
