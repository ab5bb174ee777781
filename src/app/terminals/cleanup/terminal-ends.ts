import { poll } from '../../../concurrency/poll.ts';
import type { CloseReason } from '../../../domain/terminals/terminal.ts';
import { type ContainerStatus, forParticipant } from '../../../domain/terminals/terminal-close-reason.ts';
import {
  closeAfterEnd,
  closeAfterFault,
  type EngineSight,
  mayBeContainers,
  type OpenFault,
  type StreamEnd,
} from '../../../domain/terminals/terminal-end.ts';
import { type ContainerObserver, RuntimeBusy } from '../../../ports/containers/container-runtime.ts';
import { StorageUnavailable } from '../../../ports/storage.ts';
import { TerminalNotStarted } from '../../../ports/terminals/terminal-backend.ts';
import type { TerminalRecordRepository } from '../../../ports/terminals/terminal-record-repository.ts';
import type { TerminalTarget } from '../opening/locate-terminal.ts';

/** A stopping container ends its shells a moment before it is down. */
const GOES_DOWN = { withinMs: 1_500, everyMs: 100 };

export type TerminalEndsDeps = {
  readonly records: Pick<TerminalRecordRepository, 'containerStatuses'>;
  readonly runtime: Pick<ContainerObserver, 'observe'>;
};

type Located = Pick<TerminalTarget, 'dbId' | 'handle' | 'participation'>;

export type TerminalEnds = ReturnType<typeof terminalEnds>;

/**
 * The reasons for ends that Berth did not cause, by the database's and the engine's view of the container. Never
 * throws.
 */
export function terminalEnds({ records, runtime }: TerminalEndsDeps) {
  const rowOf = async ({ dbId }: Located): Promise<ContainerStatus | null | undefined> => {
    const found = await records.containerStatuses([dbId]).catch(() => undefined);
    return found === undefined ? undefined : (found[0] ?? null);
  };

  const seen = ({ handle }: Located): Promise<EngineSight> =>
    runtime.observe(handle).then(
      ({ kind }) => kind,
      () => 'silent' as const,
    );

  /** A program's end may precede its container's. */
  async function seenAfter(target: Located, end: StreamEnd): Promise<EngineSight | null> {
    if (!mayBeContainers(end)) return null;
    const seenDown = async (): Promise<EngineSight | null> => {
      const engine = await seen(target);
      return engine === 'running' && end.kind !== 'lost' ? null : engine;
    };
    return (await poll(seenDown, GOES_DOWN)) ?? 'running';
  }

  return {
    async afterEnd(target: Located, end: StreamEnd, ranMs: number): Promise<CloseReason> {
      const engine = await seenAfter(target, end);
      const reason = closeAfterEnd({ ...end, ranMs }, await rowOf(target), target.handle.runtimeId, engine);
      return forParticipant(reason, target.participation !== null);
    },

    async afterFault(target: Located, error: unknown): Promise<CloseReason> {
      const fault = faultOf(error);
      const [engine, row] = await Promise.all([seen(target), rowOf(target)]);
      return forParticipant(
        closeAfterFault(fault, row, target.handle.runtimeId, engine),
        target.participation !== null,
      );
    },
  };
}

function faultOf(error: unknown): OpenFault {
  if (error instanceof StorageUnavailable) return 'storage';
  if (error instanceof RuntimeBusy && error.code === 'container_unresponsive') return 'unresponsive';
  return error instanceof TerminalNotStarted ? error.fault : 'other';
}
