import { setTimeout as sleep } from 'node:timers/promises';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import { closeAs, type PlaceNow } from '../../domain/terminals/terminal-close-reason.ts';
import {
  closeAfterEnd,
  closeAfterFault,
  type EngineSight,
  mayBeContainers,
  type OpenFault,
  type StreamEnd,
} from '../../domain/terminals/terminal-end.ts';
import { type ContainerRuntime, RuntimeBusy } from '../../ports/containers/container-runtime.ts';
import { StorageUnavailable } from '../../ports/storage.ts';
import { TerminalNotStarted } from '../../ports/terminals/terminal-backend.ts';
import type { TerminalRecords } from '../../ports/terminals/terminal-record-repository.ts';
import type { Place } from './locate-terminal.ts';

/** A container that is asked to stop ends its shells first, and goes down a moment later. */
const GOES_DOWN_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 100;

export type TerminalEndsDeps = {
  readonly records: Pick<TerminalRecords, 'places'>;
  readonly runtime: Pick<ContainerRuntime, 'observe'>;
};

type Located = Pick<Place, 'dbId' | 'handle' | 'part'>;

export type TerminalEnds = ReturnType<typeof terminalEnds>;

/** Why terminals close that nobody closed, by what the database and the engine say of their containers. Never throws. */
export function terminalEnds({ records, runtime }: TerminalEndsDeps) {
  const rowOf = async ({ dbId }: Located): Promise<PlaceNow | null | undefined> => {
    const found = await records.places([dbId]).catch(() => undefined);
    return found === undefined ? undefined : (found[0] ?? null);
  };

  const seen = ({ handle }: Located): Promise<EngineSight> =>
    runtime.observe(handle).then(
      ({ kind }) => kind,
      () => 'silent' as const,
    );

  /** A program that has ended may be the first of a container that goes down. */
  async function seenAfter(place: Located, end: StreamEnd): Promise<EngineSight | null> {
    if (!mayBeContainers(end)) return null;
    const until = performance.now() + GOES_DOWN_WITHIN_MS;
    for (;;) {
      const engine = await seen(place);
      if (end.kind === 'lost' || engine !== 'running' || performance.now() > until) return engine;
      await sleep(LOOK_EVERY_MS);
    }
  }

  return {
    async afterEnd(place: Located, end: StreamEnd, ranMs: number): Promise<CloseReason> {
      const engine = await seenAfter(place, end);
      const reason = closeAfterEnd({ ...end, ranMs }, await rowOf(place), place.handle.runtimeId, engine);
      return closeAs(reason, place.part !== null);
    },

    async afterFault(place: Located, error: unknown): Promise<CloseReason> {
      const fault = faultOf(error);
      const [engine, row] = await Promise.all([seen(place), rowOf(place)]);
      return closeAs(closeAfterFault(fault, row, place.handle.runtimeId, engine), place.part !== null);
    },
  };
}

function faultOf(error: unknown): OpenFault {
  if (error instanceof StorageUnavailable) return 'storage';
  if (error instanceof RuntimeBusy && error.code === 'container_unresponsive') return 'unresponsive';
  return error instanceof TerminalNotStarted ? error.fault : 'other';
}
