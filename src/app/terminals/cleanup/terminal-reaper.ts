import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Container, ContainerState } from '../../../domain/containers/container.ts';
import {
  DEAD_AFTER_SECONDS,
  decideReaping,
  isSearchedBy,
  type Leftovers,
} from '../../../domain/terminals/terminal-reaping.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { ContainerObserver, RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';
import { handleOf } from '../../containers/find-container.ts';
import type { TerminalLeases } from './terminal-leases.ts';

/** Interval for searching running containers for leftovers without a lease. */
const CLEAN_ALL_MS = 600_000;
const AT_A_TIME = 4;
/**
 * Ended in a container per pass: as many as one program ends, within its time limit. A container whose programs hang
 * does not keep the pass from the others.
 */
const MOST_SESSIONS = 50;
const MOST_MARKS = 500;
const NOTHING: Leftovers = { sessions: [], marks: [] };
/** While a container is being changed, its programs are unknown. */
const SETTLED: readonly ContainerState[] = ['running', 'stopped', 'failed', 'deleted'];

export type TerminalReaperDeps = {
  readonly repositories: Repositories;
  readonly runtime: Pick<ContainerObserver, 'observe'>;
  readonly backend: TerminalBackend;
  readonly leases: TerminalLeases;
  readonly log: Logger;
  /** Whether the service is stopping: leftovers are then left to other processes. */
  readonly isStopping: () => boolean;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
};

/**
 * Ends leftovers of terminals in containers: of killed processes, and of this one where ending failed. The next pass
 * checks again, until they are gone. Safe in concurrent processes.
 */
export function terminalReaper(deps: TerminalReaperDeps) {
  const { leases, log, isStopping, clock, monotonicMs } = deps;
  const { containers, terminalLeases: leaseRepository } = deps.repositories;
  const clean = leftoverCleaner(deps);
  let cleanedAllMs: number | null = null;
  /** Containers not searched or cleaned to the end: the next search covers them, in whichever share they are. */
  const missed = new Set<string>();

  /** For a timer; the first pass is at the start. */
  async function pass(): Promise<void> {
    const { replica, runId } = leases;
    const by = { replica, runId, streamIds: [...leases.streamIds()] };
    const unattended = new Set(await leaseRepository.unattended(by, DEAD_AFTER_SECONDS));
    const due = [...new Set([...unattended, ...(await dueForSearch())])];
    // Containers that have cost time before do not delay the others.
    const inOrder = [...due.filter((dbId) => !missed.has(dbId)), ...due.filter((dbId) => missed.has(dbId))];
    await forEachAtMost(AT_A_TIME, inOrder, async (dbId) => {
      if (isStopping()) return;
      await clean(dbId, unattended.has(dbId)).then(
        (isClean) => void (isClean ? missed.delete(dbId) : missed.add(dbId)),
        (err: unknown) => {
          missed.add(dbId);
          log.info({ err, dbId }, 'could not list leftovers of terminals');
        },
      );
    });
  }

  /** The running containers to search, when it is time. Leftovers without a lease are recognized only while leases are steady. */
  async function dueForSearch(): Promise<readonly string[]> {
    const nowMs = monotonicMs();
    if (!leases.isSteady() || (cleanedAllMs !== null && nowMs - cleanedAllMs < CLEAN_ALL_MS)) return [];
    const [rows, liveRunIds] = await Promise.all([
      containers.listAllLive(),
      leaseRepository.liveRuns(DEAD_AFTER_SECONDS),
    ]);
    // A run that was just killed still counts as live, so the first search covers all containers.
    const isFirst = cleanedAllMs === null;
    cleanedAllMs = nowMs;
    const turn = Math.floor(clock.now().getTime() / CLEAN_ALL_MS);
    const running = rows.filter(({ state }) => state === 'running').map(({ dbId }) => dbId);
    const share = running.filter((dbId) => isFirst || isSearchedBy(leases.runId, dbId, liveRunIds, turn));
    return [...missed, ...share];
  }

  return pass;
}

/** Ends leftovers in a container, and forgets the leases without any. Returns whether it could end all. */
function leftoverCleaner(deps: TerminalReaperDeps) {
  const { repositories, runtime, backend, leases, log } = deps;
  const { containers, terminalLeases: leaseRepository } = repositories;
  return async (dbId: string, isUnattended: boolean): Promise<boolean> => {
    const row = await containers.findAny(dbId);
    if (row !== null && (!SETTLED.includes(row.state) || (await isPaused(runtime, row)))) return true;
    const handle = row?.state === 'running' ? handleOf(row) : null;
    const seen = handle === null ? NOTHING : await backend.leftovers(handle);
    // Most containers have no leftovers.
    if (!isUnattended && seen.marks.length + seen.sessions.length === 0) return true;
    // After the leases: a terminal opened in between has its lease before it is in the container.
    const inContainer = await leaseRepository.inContainer(dbId);
    const { replica, runId } = leases;
    const me = { replica, runId, streamIds: leases.streamIds(), isSteady: leases.isSteady() };
    const { marks, sessions, forget } = decideReaping(seen, inContainer, handle?.runtimeId ?? null, me);
    let isClean = true;
    if (handle !== null) {
      const counts = { marks: marks.length, sessions: sessions.length };
      if (marks.length + sessions.length > 0) log.info({ dbId, ...counts }, 'ending leftovers of terminals');
      // A session that cannot be ended must not block the others; the next pass retries it.
      const ended = sessions.slice(0, MOST_SESSIONS).map((session) => endSession(deps, handle, session));
      const areEnded = (await Promise.all(ended)).every(Boolean);
      isClean = areEnded && sessions.length <= MOST_SESSIONS && marks.length <= MOST_MARKS;
      await Promise.all(marks.slice(0, MOST_MARKS).map((mark) => backend.endMarked(handle, mark)));
    }
    await leaseRepository.remove(forget);
    return isClean;
  };
}

/** Its programs exist, but cannot be ended until it resumes. */
async function isPaused(runtime: TerminalReaperDeps['runtime'], row: Container): Promise<boolean> {
  const handle = row.state === 'stopped' ? handleOf(row) : null;
  return handle !== null && (await runtime.observe(handle)).kind === 'paused';
}

const endSession = (
  { backend, log }: TerminalReaperDeps,
  handle: RuntimeHandle,
  session: string,
): Promise<boolean> =>
  backend.killMuxSession(handle, session).then(
    () => true,
    (err: unknown) => {
      log.info({ err, session }, 'could not end a session');
      return false;
    },
  );
