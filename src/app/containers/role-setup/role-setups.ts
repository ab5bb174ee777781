import type { Container } from '../../../domain/containers/container.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import type { AsyncResult } from '../../async-result.ts';
import { LEASE_SECONDS } from '../operations/operation-deps.ts';
import { installTools } from './install-role.ts';
import type { RoleSetupDeps } from './role-setup-deps.ts';
import { cancelSetup, retrySetup } from './role-setup-requests.ts';

/** Package managers are demanding: more at once would slow users down. */
const MAX_AT_ONCE = 3;

type Running = { readonly stop: AbortController; readonly done: Promise<void> };

type Installing = {
  readonly deps: RoleSetupDeps;
  readonly running: Map<string, Running>;
  /** The search for due installations in progress. */
  search: Promise<void> | null;
  hasSearched: boolean;
  isClosed: boolean;
};

export type RoleSetups = ReturnType<typeof roleSetups>;

/** Installs roles' tools in the background. One process at a time works on each. */
export function roleSetups(deps: RoleSetupDeps) {
  const installing: Installing = {
    deps,
    running: new Map(),
    search: null,
    hasSearched: false,
    isClosed: false,
  };
  const changed = (container: Container, before: string | null) => dropOthers(installing, container, before);
  return {
    /** Starts due installations, up to the limit. Never throws. */
    takeUp: (): Promise<void> => takeUp(installing),

    /** Renews the leases of the work in progress and starts more; for a timer. */
    keep: (): Promise<void> => keep(installing),

    retry: (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Container> =>
      retrySetup(deps, changed, { id, caller, origin }),

    cancel: (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Container> =>
      cancelSetup(deps, changed, { id, caller, origin }),

    async idle(): Promise<void> {
      const { running } = installing;
      await installing.search;
      while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
    },

    /** Ends the work in progress, in the containers too, and leaves it to the next process. */
    close: (): Promise<void> => close(installing),
  };
}

function takeUp(installing: Installing): Promise<void> {
  installing.search ??= searchDue(installing)
    .catch((err: unknown) => installing.deps.log.warn({ err }, 'could not check for roles to install'))
    .finally(() => {
      installing.search = null;
    });
  return installing.search;
}

async function searchDue(installing: Installing): Promise<void> {
  const { storage, owner } = installing.deps;
  const room = MAX_AT_ONCE - installing.running.size;
  if (room <= 0 || installing.isClosed) return;
  const { roleSetups: setups } = storage.repositories;
  const taken = await setups.takeUp(owner, LEASE_SECONDS, !installing.hasSearched, room);
  installing.hasSearched = true;
  for (const container of taken) begin(installing, container);
}

function begin(installing: Installing, container: Container): void {
  const { deps, running } = installing;
  const { id } = container.roleSetup;
  if (id === null || running.has(id)) return;
  const stop = new AbortController();
  const done = installTools(deps, { container, id, signal: stop.signal })
    .catch((err: unknown) => {
      deps.log.warn({ err }, 'a role setup failed');
      return 'due' as const;
    })
    .then((left) => {
      running.delete(id);
      // What stays due waits for the timer, or a silent engine would be asked without pause.
      if (left === 'over' && !installing.isClosed) void takeUp(installing);
    });
  running.set(id, { stop, done });
}

async function keep(installing: Installing): Promise<void> {
  const { deps, running } = installing;
  const { roleSetups: setups } = deps.storage.repositories;
  if (running.size > 0) await setups.renew([...running.keys()], deps.owner, LEASE_SECONDS);
  await takeUp(installing);
}

/** Stops an attempt that a request has ended or replaced. */
function dropOthers(installing: Installing, container: Container, before: string | null): void {
  if (before !== null && before !== container.roleSetup.id) installing.running.get(before)?.stop.abort();
  void takeUp(installing);
}

async function close(installing: Installing): Promise<void> {
  const { storage, owner } = installing.deps;
  installing.isClosed = true;
  await installing.search;
  const all = [...installing.running];
  for (const [, { stop }] of all) stop.abort();
  await Promise.all(all.map(([, { done }]) => done));
  const { roleSetups: setups } = storage.repositories;
  await Promise.all(all.map(([id]) => setups.release(id, owner))).catch(() => undefined);
}
