import { type Caller, isLocked } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { watches } from '../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContainerRuntime } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { HeadlessTerminals } from '../../ports/terminals/headless-terminal.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { SharedTerminals } from '../collaboration/shared-terminals.ts';
import { terminalOpening } from './open-terminal.ts';
import { terminalAdmission } from './terminal-admission.ts';
import { type TerminalObserver, terminalConnections } from './terminal-connections.ts';
import { terminalEnds } from './terminal-ends.ts';
import { type Incarnation, terminalLeases } from './terminal-leases.ts';
import { type TerminalQueueOptions, terminalQueue } from './terminal-queue.ts';
import { TerminalRegistry } from './terminal-registry.ts';
import { terminalSync } from './terminal-sync.ts';

export type TerminalDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly runtime: Pick<ContainerRuntime, 'observe'>;
  readonly bus: Bus;
  readonly me: Incarnation;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: TerminalObserver;
  readonly screens: HeadlessTerminals;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** How many terminals are opened at a time, and how long the others wait. */
  readonly opening?: TerminalQueueOptions | undefined;
};

export type Terminals = ReturnType<typeof terminals>;

/** Opens terminals, keeps them for clients whose line was lost, and knows the live ones of this process. */
export function terminals(deps: TerminalDeps) {
  const { storage, backend, runtime, bus, me, clock, log, observer, monotonicMs, screens } = deps;
  const { repositories } = storage;
  const records = repositories.terminals;
  const { replica } = me;
  const live = terminalConnections(clock, replica);
  const leases = terminalLeases(repositories.terminalLeases, me, monotonicMs);
  const registry = new TerminalRegistry({ leases, log, monotonicMs, listener: observer, screens });
  observer.onNotice((notice) => {
    for (const entry of live.all()) if (watches(entry, notice)) entry.connection.notify(notice);
  });
  const replicas = terminalSync({ bus, records, replica, live, registry, log, monotonicMs });
  const shared = sharedIn(registry, deps);
  const queue = terminalQueue(deps.opening);
  const { look, admit } = terminalAdmission({ repositories, backend, clock, registry, queue });
  const opening = terminalOpening({
    ...{ storage, backend, clock, log, observer, live, registry, sync: replicas, shared },
    ends: terminalEnds({ records, runtime }),
  });

  return {
    /** What comes before the upgrade: the checks alone, or with the wait for a turn as well. */
    look,
    admit,

    open: opening.open,

    /** What to tell a client whose terminal could not be opened. */
    whyNotOpened: opening.whyNot,

    /** Whether somebody may keep an open terminal, going by what is known of them now. */
    mayStay: (now: Caller): boolean => !isLocked(now) && !guestExpired(now.user, clock.now()),

    /** The one of this process, with what its record may not have yet. */
    find: live.find,

    /** The newest open one of this process under a key. */
    underKey: live.underKey,

    /** Open ones of this process. */
    count: live.count,

    /** How many wait for their turn to be opened by this process. */
    waiting: queue.waiting,

    /** Closes every terminal of a container, in every process. */
    closeAll: replicas.closeAll,

    /** Before the first is opened: what an earlier run of this process left on record is no terminal any more. */
    begin: (): Promise<void> => records.removeAllOf(replica),

    /** What this process has in containers. */
    leases,

    /** From now on nobody waits for a terminal to be opened, and none is. */
    refuseNew: queue.shut,

    /** Closes every terminal of this process. */
    closeEverything: (reason: CloseReason): void => registry.shut(reason),

    /** When what was closed has ended in the containers as well. */
    idle: (): Promise<void> => registry.idle(),

    /** When no socket has a terminal any more, and the end of each is on record. */
    over: opening.over,

    /** Ends what nobody came back to, closes what is shared no more, and writes what is due of the records; for a timer. */
    async writeDue(): Promise<void> {
      registry.tick();
      await Promise.all([
        shared.recheckParticipants(),
        leases.renewDue(),
        live.writeDue(records),
        replicas.recheckDue(),
      ]);
    },
  };
}

/** The terminals of participants in collaborations. */
const sharedIn = (registry: TerminalRegistry, { storage, bus, log }: TerminalDeps): SharedTerminals =>
  new SharedTerminals({
    collaborations: storage.repositories.collaborations,
    bus,
    log,
    participations: () =>
      registry
        .targets()
        .flatMap(({ dbId, participation }) => (participation ? [{ ...participation, dbId }] : [])),
    shut: (over) =>
      registry.shutWhere(CLOSE.collaborationEnded, ({ participation }) =>
        over.some(
          (one) =>
            one.collaborationId === participation?.collaborationId && one.userId === participation.userId,
        ),
      ),
  });
