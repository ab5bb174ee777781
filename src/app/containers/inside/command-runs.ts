import { type Resumption, resumptionOf } from '../../../domain/containers/command-run.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result } from '../../../domain/result.ts';
import type { CommandEvent, ControlledCommand } from '../../../ports/containers/inside/container-commands.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import { sha256 } from '../../identity/auth/secrets.ts';

export type CommandRunDeps = {
  readonly storage: Pick<Storage, 'repositories'>;
  readonly replica: string;
  readonly log: Logger;
};

export type CommandRuns = ReturnType<typeof commandRuns>;

/** Records of commands by their names, so that a client that resumes gets a true answer after a restart of the service. */
export const commandRuns = ({ storage, replica, log }: CommandRunDeps) => ({
  /** Starts a command that is on record, and records its end before its reader learns of it. */
  async start(
    name: string,
    open: () => Promise<Result<ControlledCommand, DomainError>>,
  ): Promise<Result<ControlledCommand, DomainError>> {
    const { commandRuns: runs } = storage.repositories;
    const hash = sha256(name);
    await runs.begin(hash, replica);
    const opened = await open();
    if (!opened.ok) {
      if (opened.error.code !== 'command_outcome_unknown') await runs.forget(hash);
      return opened;
    }
    const ended = async (exitCode: number | null, outputBytes: number): Promise<void> => {
      await runs
        .end(hash, { exitCode, outputBytes })
        .catch((err: unknown) => log.warn({ err }, 'the end of a command was not recorded'));
    };
    return ok({ ...opened.value, events: recorded(opened.value.events, ended) });
  },

  /** What to tell a client whose command this process does not have. */
  async resume(name: string, receivedBytes: number): Promise<Resumption> {
    const { commandRuns: runs, health } = storage.repositories;
    const [run, { now, reports }] = await Promise.all([runs.find(sha256(name)), health.reports()]);
    return resumptionOf(run, receivedBytes, replica, reports, now);
  },
});

async function* recorded(
  events: AsyncIterable<CommandEvent>,
  ended: (exitCode: number | null, outputBytes: number) => Promise<void>,
): AsyncGenerator<CommandEvent> {
  let outputBytes = 0;
  for await (const event of events) {
    if (event.kind === 'exit') await ended(event.exitCode, outputBytes);
    else outputBytes += event.data.length;
    yield event;
  }
}
