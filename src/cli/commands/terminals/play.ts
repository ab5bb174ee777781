import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { RecordingEvent } from '../../../client/index.ts';
import { CliError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { type Io, isTerminal } from '../../io/io.ts';
import { PlayableOutput } from '../../io/playable-output.ts';
import { rawTerminal, SOFT_RESET } from '../../io/raw-terminal.ts';
import { writeTo } from '../../io/streams.ts';
import { type Pace, pauseMs } from '../../values/pace.ts';
import { findRecording } from './record.ts';

/** Ctrl-C. */
const INTERRUPT = 0x03;

export const play = () =>
  command('play', 'Play a recording in this terminal')
    .argument('[recording]', 'its id, or the name of the container')
    .option('-s, --speed <factor>', 'how many times as fast as recorded', positive, 1)
    .option('-i, --idle-limit <seconds>', 'the longest pause', positive)
    .addHelpText('after', '\nWhere the output is no terminal, all of it comes without pauses.')
    .action(
      withCli(async (cli, given, { speed, idleLimit }) => {
        const { id } = await findRecording(cli, given);
        const pace = { speed, idleLimitSeconds: idleLimit ?? Number.POSITIVE_INFINITY };
        await untilInterrupted(cli.io, (signal) =>
          show(cli.io, cli.berth().recordings.events(id, { signal }), pace, signal),
        );
      }),
    );

async function show(
  { out }: Io,
  events: AsyncIterable<RecordingEvent>,
  pace: Pace,
  signal: AbortSignal,
): Promise<void> {
  const isPaced = isTerminal(out);
  const playable = new PlayableOutput();
  let lastSeconds = 0;
  try {
    for await (const { atSeconds, type, data } of events) {
      if (isPaced) await sleep(pauseMs(lastSeconds, atSeconds, pace), undefined, { signal });
      lastSeconds = atSeconds;
      if (type === 'output') await writeTo(out, isPaced ? playable.add(data) : data);
    }
  } finally {
    // A recording may end in the middle of a program.
    if (isPaced) out.write(`${SOFT_RESET}\x1b[0m\r\n`);
  }
}

async function untilInterrupted(io: Io, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.on('SIGINT', onInterrupt);
  // Nothing typed meanwhile reaches the shell afterwards, nor does an answer of the terminal.
  const restore = rawTerminal(io)?.begin({
    input: (bytes) => void (bytes.includes(INTERRUPT) && onInterrupt()),
    resized: () => {},
    ended: onInterrupt,
  });
  try {
    await act(interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    throw new CliError('interrupted', { exit: EXIT.interrupted, code: 'interrupted' });
  } finally {
    process.off('SIGINT', onInterrupt);
    restore?.('as it is');
  }
}

function positive(text: string): number {
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number === 0)
    throw new InvalidArgumentError('Give a number greater than 0.');
  return number;
}
