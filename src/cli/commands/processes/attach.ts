import { Option } from '@commander-js/extra-typings';
import { BerthError, type Process } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { CliError, ProgramEnd } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { rawTerminal } from '../../io/raw-terminal.ts';
import { writeTo } from '../../io/streams.ts';
import { detachKeyOption } from '../../values/detach-key.ts';
import { findContainer } from '../../values/find.ts';
import { findProcess } from './find-process.ts';
import { interact } from './interact.ts';

const HELP = `
A process that runs in a terminal is attached to yours: every key goes to it, and the detach key leaves it running.
After a lost connection it continues where it was.
`;

export const attach = () =>
  command('attach', 'Follow the output of a process, or use its terminal')
    .argument('<container>', 'its name or id')
    .argument('[process]', 'its name or id')
    .addOption(
      new Option('-i, --stdin', 'pass standard input to it, and close its input at the end').conflicts(
        'follow',
      ),
    )
    .option('--no-follow', 'print only the output so far')
    .addOption(detachKeyOption())
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, wanted, { stdin = false, follow, detachKey }) => {
        const container = await findContainer(cli, given);
        const shown = await findProcess(cli, container, wanted);
        const raw = follow && shown.info.pty !== null ? rawTerminal(cli.io) : null;
        const back = `berth attach ${container.name} ${shown.name}`;
        if (raw !== null) return await interact(cli, shown, { raw, detachKey, back });
        const leaving = new AbortController();
        const leave = (): void => leaving.abort();
        const input = stdin ? sendInput(cli, shown, leaving.signal) : Promise.resolve();
        const output = showOutput(cli, shown, follow, leaving.signal).finally(leave);
        const both = Promise.all([output, input]);
        input.catch(leave);
        const [exitCode] = await both;
        if (follow) throw new ProgramEnd(exitCode ?? EXIT.failed);
      }),
    );

async function showOutput(
  { io }: Cli,
  shown: Process,
  follow: boolean,
  signal: AbortSignal,
): Promise<number | null> {
  const pieces = shown.output.from({ follow, signal });
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return value.exitCode;
    const into = value.stream === 'stdout' ? io.out : io.err;
    await writeTo(into, value.bytes);
  }
}

/** Sends standard input until it ends, or the process takes no more: the rest is dropped. */
async function sendInput(cli: Cli, shown: Process, left: AbortSignal): Promise<void> {
  const { io } = cli;
  const stop = (): void => void io.in.destroy();
  left.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of io.in) await shown.write(new Uint8Array(Buffer.from(chunk)));
    await shown.closeInput();
  } catch (failure) {
    if (left.aborted) return;
    // A loop that is left destroys the input, with an error of its own.
    if (failure === io.in.errored)
      throw new CliError(`Could not read the rest of standard input: ${io.in.errored?.message}`);
    const code = failure instanceof BerthError ? failure.code : null;
    if (code === 'process_input_closed')
      cli.notify('The process takes no more input: the rest of it is dropped.');
    else if (code !== 'process_ended') throw failure;
  }
}
