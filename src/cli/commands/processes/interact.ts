import type { Process } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { ProgramEnd } from '../../cli-error.ts';
import { EXIT } from '../../exit-codes.ts';
import type { RawTerminal } from '../../io/raw-terminal.ts';
import { writeTo } from '../../io/streams.ts';

export type Interaction = {
  readonly raw: RawTerminal;
  /** The byte of the key that leaves it running; null for none. */
  readonly detachKey: number | null;
  /** The command line by which the user returns to it. */
  readonly back: string;
};

/** Connects the user's terminal with that of a process, until it ends or is left. Ends as the program did. */
export async function interact(
  cli: Cli,
  shown: Process,
  { raw, detachKey, back }: Interaction,
): Promise<void> {
  const attached = await shown.attach({
    size: raw.size(),
    onLost: () => raw.isRaw() && raw.note('connection lost, reconnecting…'),
  });
  const stop = raw.begin({
    input: (bytes) => {
      const at = detachKey === null ? -1 : bytes.indexOf(detachKey);
      attached.write(at === -1 ? bytes : bytes.subarray(0, at));
      if (at !== -1) attached.detach();
    },
    resized: (size) => attached.resize(size),
    ended: () => attached.detach(),
  });
  const end = await (async () => {
    for await (const { bytes } of attached) await writeTo(cli.io.out, bytes);
    return await attached.closed;
  })().finally(stop);
  if (end !== null) throw new ProgramEnd(end.exitCode ?? EXIT.failed);
  cli.notify(`Left running. Return: ${back}`);
}
