import { type Readable, Transform } from 'node:stream';
import type { DomainError } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { CLOSE } from '../../domain/terminals/terminal.ts';
import type { ControlledCommand } from '../../ports/containers/inside/container-commands.ts';
import type { ChannelOutput } from './channel-output.ts';
import { EXIT, refusalWords, type SignedInClient } from './client.ts';

/** The client's input while its credential is valid, and its end. Waiting input is dropped when the connection ends. */
export function inputOf(channel: Readable, { connection, carrier, close }: SignedInClient): Readable {
  let drop = (): void => {};
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let isOver = false;
      const over = (passed: Buffer | null): void => {
        if (!isOver) done(null, passed);
        isOver = true;
      };
      drop = () => over(null);
      carrier.count(chunk.length);
      if (connection.use(() => over(chunk), chunk.length)) return;
      close(CLOSE.tooSlow);
      drop();
    },
  });
  const forget = carrier.atEnd(() => {
    channel.unpipe(checked).resume();
    drop();
    checked.end();
  });
  channel.once('close', () => {
    forget();
    checked.end();
  });
  return channel.pipe(checked);
}

/**
 * Runs a program on a channel until either ends. `started` gets the program, to control it. A command that its client
 * leaves is ended.
 */
export async function runOn(
  output: ChannelOutput,
  client: SignedInClient,
  start: (stdin: Readable) => Promise<Result<ControlledCommand, DomainError>>,
  started: (command: ControlledCommand) => void = () => {},
): Promise<void> {
  try {
    const opened = await start(inputOf(output.channel, client));
    if (!opened.ok) {
      const name = client.connection.container?.name ?? '';
      await output.write('stderr', `${refusalWords(opened.error, name)}\n`);
      return await output.exit(EXIT.failed);
    }
    if (output.isClosed) return await opened.value.end();
    started(opened.value);
    await showCommand(output, client, opened.value);
  } finally {
    // The channel cannot close while it holds unread input.
    output.channel.unpipe().resume();
  }
}

async function showCommand(
  output: ChannelOutput,
  { log }: SignedInClient,
  command: ControlledCommand,
): Promise<void> {
  const forget = output.atEnd(() => void command.end());
  let exitCode: number | null = null;
  try {
    for await (const event of command.events) {
      if (event.kind === 'output') await output.write(event.stream, event.data);
      else exitCode = event.exitCode;
    }
  } catch (err) {
    log.info({ err }, 'a command of an SSH connection was lost');
    await output.write('stderr', 'the connection to the container was lost\n');
  } finally {
    forget();
  }
  await output.exit(exitCode ?? EXIT.failed);
}
