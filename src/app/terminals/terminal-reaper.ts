import { forEachAtMost } from '../../concurrency/pool.ts';
import type { Container, ContainerState } from '../../domain/containers/container.ts';
import { DEAD_AFTER_SECONDS, decideReaping } from '../../domain/terminals/terminal-reaping.ts';
import type { ContainerRuntime, RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { handleOf } from '../containers/find-container.ts';
import type { TerminalLeases } from './terminal-leases.ts';

/** How often every running container is looked into, for what no row tells of. */
const LOOK_INTO_ALL_MS = 600_000;
const AT_A_TIME = 4;
/** While a container is being changed, nobody knows what runs in it. */
const SETTLED: readonly ContainerState[] = ['running', 'stopped', 'failed', 'deleted'];

export type TerminalReaperDeps = {
  readonly repositories: Repositories;
  readonly runtime: Pick<ContainerRuntime, 'observe'>;
  readonly backend: TerminalBackend;
  readonly leases: TerminalLeases;
  readonly log: Logger;
  /** Whether the service is about to end: what is left is looked after by whoever comes next. */
  readonly isStopping: () => boolean;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
};

/**
 * Ends what terminals have left in containers: of processes that were killed, and of this one where ending failed. What it
 * ends is looked for again the next time, until it is gone. Safe in any number of processes at once.
 */
export function terminalReaper(deps: TerminalReaperDeps) {
  const { repositories, runtime, backend, leases, log, isStopping, monotonicMs } = deps;
  const { containers, terminalLeases: leaseRepository } = repositories;
  let lookedIntoAllMs: number | null = null;

  /** One for a timer; the first pass comes at the start. */
  async function pass(): Promise<void> {
    const by = {
      replica: leases.replica,
      incarnation: leases.incarnation,
      streamIds: [...leases.streamIds()],
    };
    const due = new Set(await leaseRepository.unattended(by, DEAD_AFTER_SECONDS));
    for (const dbId of await all()) due.add(dbId);
    await forEachAtMost(AT_A_TIME, [...due], async (dbId) => {
      if (isStopping()) return;
      await lookInto(dbId).catch((err: unknown) =>
        log.info({ err, dbId }, 'could not list leftovers of terminals'),
      );
    });
  }

  /** Running ones, when it is time. Only one that is steady can tell what no row accounts for. */
  async function all(): Promise<readonly string[]> {
    const nowMs = monotonicMs();
    if (!leases.isSteady() || (lookedIntoAllMs !== null && nowMs - lookedIntoAllMs < LOOK_INTO_ALL_MS))
      return [];
    lookedIntoAllMs = nowMs;
    const rows = await containers.listAllLive();
    return rows.filter(({ state }) => state === 'running').map(({ dbId }) => dbId);
  }

  async function lookInto(dbId: string): Promise<void> {
    const row = await containers.findAny(dbId);
    if (row !== null && (!SETTLED.includes(row.state) || (await isPaused(row)))) return;
    const handle = row?.state === 'running' ? handleOf(row) : null;
    const seen = handle === null ? { sessions: [], marks: [] } : await backend.leftovers(handle);
    // After the look: whatever is opened meanwhile is in a row before it is in the container.
    const inContainer = await leaseRepository.inContainer(dbId);
    const { replica, incarnation } = leases;
    const me = { replica, incarnation, streamIds: leases.streamIds(), isSteady: leases.isSteady() };
    const { marks, sessions, forget } = decideReaping(seen, inContainer, handle?.runtimeId ?? null, me);
    if (handle !== null) {
      if (marks.length + sessions.length > 0)
        log.info({ dbId, marks, sessions }, 'ending leftovers of terminals');
      // A session that cannot be ended must not block the others; the next pass retries it.
      await Promise.all(sessions.map((session) => endSession(handle, session)));
      await Promise.all(marks.map((mark) => backend.endMarked(handle, mark)));
    }
    await leaseRepository.remove(forget);
  }

  /** Its programs are there, and nothing can be ended before it goes on. */
  async function isPaused(row: Container): Promise<boolean> {
    const handle = row.state === 'stopped' ? handleOf(row) : null;
    return handle !== null && (await runtime.observe(handle)).kind === 'paused';
  }

  const endSession = (handle: RuntimeHandle, session: string): Promise<void> =>
    backend
      .killMuxSession(handle, session)
      .catch((err: unknown) => log.info({ err, session }, 'could not end a session'));

  return pass;
}
