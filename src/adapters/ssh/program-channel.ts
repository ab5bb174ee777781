import { type Readable, Transform } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import type { DomainError } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { CLOSE } from '../../domain/terminals/terminal.ts';
import type { ControlledCommand } from '../../ports/containers/inside/container-commands.ts';
import { ChannelOutput } from './channel-output.ts';
import { EXIT, refusalWords, type SignedInClient } from './client.ts';

/** The client's input while its credential is valid, with its end. */
export function inputOf(channel: Readable, { connection, carrier, close }: SignedInClient): Readable {
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      carrier.count(chunk.length);
      if (!connection.use(() => done(null, chunk), chunk.length)) close(CLOSE.tooSlow);
    },
  });
  channel.once('close', () => checked.end());
  return channel.pipe(checked);
}

/**
 * Runs a program on a channel until either ends. `started` gets the program, to control it. A command that its client
 * leaves is ended.
 */
export async function runOn(
  channel: ServerChannel,
  client: SignedInClient,
  start: (stdin: Readable) => Promise<Result<ControlledCommand, DomainError>>,
  started: (command: ControlledCommand) => void = () => {},
): Promise<void> {
  const output = new ChannelOutput(channel, client.carrier);
  const opened = await start(inputOf(channel, client));
  if (!opened.ok) {
    const name = client.connection.container?.name ?? '';
    await output.write('stderr', `${refusalWords(opened.error, name)}\n`);
    return await output.exit(EXIT.failed);
  }
  const command = opened.value;
  const end = (): void => void command.end();
  channel.once('close', end);
  if (output.isClosed) return await command.end();
  started(command);
  try {
    let exitCode: number | null = null;
    for await (const event of command.events) {
      if (event.kind === 'output') await output.write(event.stream, event.data);
      else exitCode = event.exitCode;
    }
    await output.exit(exitCode ?? EXIT.failed);
  } catch (err) {
    client.log.info({ err }, 'a command of an SSH connection was lost');
    await output.write('stderr', 'the connection to the container was lost\n');
    await output.exit(EXIT.failed);
  } finally {
    channel.off('close', end);
  }
}
