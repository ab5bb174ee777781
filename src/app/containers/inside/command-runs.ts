import { type CommandEnd, type Resumption, resumptionOf } from '../../../domain/containers/command-run.ts';
import { ok } from '../../../domain/result.ts';
import type { CommandEvent, ControlledCommand } from '../../../ports/containers/inside/container-commands.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { sha256 } from '../../identity/auth/secrets.ts';

export type CommandRunDeps = {
  readonly storage: Pick<Storage, 'repositories'>;
  readonly replica: string;
  readonly log: Logger;
};

export type CommandRuns = ReturnType<typeof commandRuns>;

/** Records of commands by their names, so that a client that resumes gets a true answer after a restart of the service. */
export function commandRuns({ storage, replica, log }: CommandRunDeps) {
  const { commandRuns: runs, health } = storage.repositories;
  /** The commands of this process without an end on record, by the hashes of their names. */
  const begun = new Set<string>();
  let isShut = false;

  const end = async (hash: Buffer, how: CommandEnd): Promise<void> => {
    await runs
      .end(hash, how)
      .catch((err: unknown) => log.warn({ err }, 'the end of a command was not recorded'));
    begun.delete(hash.toString('hex'));
  };

  return {
    /** Starts a command that is on record, and records its end before its reader learns of it. */
    async start(name: string, open: () => AsyncResult<ControlledCommand>): AsyncResult<ControlledCommand> {
      const hash = sha256(name);
      await runs.begin(hash, replica);
      begun.add(hash.toString('hex'));
      const ended = once((how) => end(hash, how));
      const opened = await open().catch(async (error: unknown) => {
        await ended({ kind: 'unknown' });
        throw error;
      });
      if (opened.ok) return ok(recorded(opened.value, ended, () => isShut));
      if (opened.error.code === 'command_outcome_unknown') await ended({ kind: 'unknown' });
      else {
        begun.delete(hash.toString('hex'));
        await runs.forget(hash);
      }
      return opened;
    },

    /** What to tell a client whose command this process does not have. */
    async resume(name: string, receivedBytes: number): Promise<Resumption> {
      const hash = sha256(name);
      // Before the row is read: an end that is recorded meanwhile is in the row.
      const hasBegun = begun.has(hash.toString('hex')) && !isShut;
      const [run, { now, reports }] = await Promise.all([runs.find(hash), health.reports()]);
      return resumptionOf(run, receivedBytes, { replica, hasBegun }, reports, now);
    },

    /** The service stops: commands that it ends from now on are lost. */
    shut(): void {
      isShut = true;
    },
  };
}

type Ended = (how: CommandEnd) => Promise<void>;

/** Only the first end counts. */
function once(record: Ended): Ended {
  let first: Promise<void> | null = null;
  return (how) => {
    first ??= record(how);
    return first;
  };
}

const recorded = (command: ControlledCommand, ended: Ended, isShut: () => boolean): ControlledCommand => ({
  ...command,
  events: recordedEvents(command.events, ended),
  async end() {
    await Promise.all([isShut() ? null : ended({ kind: 'abandoned' }), command.end()]);
  },
});

async function* recordedEvents(
  events: AsyncIterable<CommandEvent>,
  ended: Ended,
): AsyncGenerator<CommandEvent> {
  let outputBytes = 0;
  try {
    for await (const event of events) {
      if (event.kind === 'exit') await ended({ kind: 'exit', exitCode: event.exitCode, outputBytes });
      else outputBytes += event.data.length;
      yield event;
    }
  } catch (error) {
    await ended({ kind: 'unknown' });
    throw error;
  }
}
