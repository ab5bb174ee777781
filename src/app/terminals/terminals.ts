import { type Caller, isLocked } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { watches } from '../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason, type TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContainerObserver } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { HeadlessTerminals } from '../../ports/terminals/headless-terminal.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { SharedTerminals } from '../collaboration/shared-terminals.ts';
import { terminalEnds } from './cleanup/terminal-ends.ts';
import { type ReplicaRun, terminalLeases } from './cleanup/terminal-leases.ts';
import { terminalOpening } from './opening/open-terminal.ts';
import { terminalAdmission } from './opening/terminal-admission.ts';
import { type TerminalQueueOptions, terminalQueue } from './opening/terminal-queue.ts';
import { terminalActivity } from './terminal-activity.ts';
import { connectionRecords, type TerminalObserver } from './terminal-connections.ts';
import { TerminalRegistry } from './terminal-registry.ts';
import { terminalSync } from './terminal-sync.ts';

export type TerminalEngine = {
  readonly backend: TerminalBackend;
  readonly runtime: Pick<ContainerObserver, 'observe'>;
  readonly screens: HeadlessTerminals;
};

export type TerminalDeps = {
  readonly storage: Storage;
  readonly engine: TerminalEngine;
  readonly bus: Bus;
  readonly me: ReplicaRun;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: TerminalObserver;
  readonly monotonicMs: () => number;
};

export type Terminals = ReturnType<typeof terminals>;

/** Opens terminals, keeps them for lost clients, and knows those of this process. */
export function terminals(deps: TerminalDeps, opening?: TerminalQueueOptions) {
  const { clock, observer } = deps;
  const { replica } = deps.me;
  const records = deps.storage.repositories.terminals;
  const activity = terminalActivity(observer);
  const { leases, registry, sync, shared, connections } = openTerminals(deps, activity.listener);
  observer.onNotice((notice) => {
    for (const entry of registry.all()) if (watches(entry, notice)) entry.connection.notify(notice);
  });
  const { backend, runtime } = deps.engine;
  const openings = terminalOpening({
    storage: deps.storage,
    backend,
    clock,
    log: deps.log,
    connections,
    registry,
    peers: { observer, sync, shared },
    ends: terminalEnds({ records, runtime }),
  });

  return {
    ...admission(deps, registry, opening),

    open: openings.open,

    /** The close reason for a terminal that could not be opened. */
    whyNotOpened: openings.whyNot,

    /** Whether the caller, by the present state, may keep an open terminal. */
    mayStay: (now: Caller): boolean => !isLocked(now) && !guestExpired(now.user, clock.now()),

    ...ofThisProcess(registry),

    /** In every process. */
    closeAll: sync.closeAll,

    /** Shows a message in all terminals of a container, in every process. */
    noticeAll: sync.noticeAll,

    /** The uses of containers by terminals of this process, since the last call. */
    usesNow: () => activity.usesNow(registry),

    /** Call it before the first opens: removes the records of an earlier run. */
    begin: (): Promise<void> => records.removeAllOf(replica),

    leases,

    /** Resolves when no socket has a terminal and every end is on record. */
    over: openings.over,

    /** Ends terminals without a returning client, closes ended shares, and writes due records; for a timer. */
    async writeDue(): Promise<void> {
      registry.tick();
      const due = [leases.renewDue(), connections.writeDue(records), sync.recheckDue()];
      await Promise.all([shared.recheckParticipants(), ...due]);
    },
  };
}

/** The open terminals of this process: their leases, records and shares, and what other processes hear of them. */
function openTerminals(deps: TerminalDeps, listener: ReturnType<typeof terminalActivity>['listener']) {
  const { me, log, monotonicMs } = deps;
  const leases = terminalLeases(deps.storage.repositories.terminalLeases, me, monotonicMs);
  const registry = new TerminalRegistry({ leases, log, monotonicMs, listener, screens: deps.engine.screens });
  const connections = connectionRecords(registry, monotonicMs, me.replica);
  return { leases, registry, connections, sync: syncOf(registry, deps), shared: sharedIn(registry, deps) };
}

/** Before the upgrade: the checks alone (`check`), or also the wait for a turn (`admit`). */
function admission(
  { storage: { repositories }, engine: { backend }, clock }: TerminalDeps,
  registry: TerminalRegistry,
  options?: TerminalQueueOptions,
) {
  const queue = terminalQueue(options);
  return {
    ...terminalAdmission({ repositories, backend, clock, registry, queue }),

    waiting: queue.waiting,

    /** Refuses waiting and future requests. */
    refuseNew: queue.shut,
  };
}

const ofThisProcess = (registry: TerminalRegistry) => ({
  /** Perhaps ahead of its record. */
  find: (id: string) => registry.find(id),

  /** The newest open one with a key. */
  underKey: (key: TerminalKey) => registry.underKey(key),

  count: () => registry.count(),

  closeEverything: (reason: CloseReason): void => registry.shut(reason),

  /** Waits until closed ones have ended in the containers too. */
  idle: (): Promise<void> => registry.idle(),
});

const syncOf = (registry: TerminalRegistry, { storage, bus, me, log, monotonicMs }: TerminalDeps) => {
  const { terminals: records, terminalCloseRequests: closeRequests } = storage.repositories;
  return terminalSync({ bus, records, closeRequests, replica: me.replica, registry, log, monotonicMs });
};

const sharedIn = (registry: TerminalRegistry, { storage, bus, log }: TerminalDeps): SharedTerminals =>
  new SharedTerminals({
    repositories: storage.repositories,
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
