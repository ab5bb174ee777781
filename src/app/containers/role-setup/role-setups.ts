import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, Origin } from '../../../domain/identity/caller.ts';
import type { Result } from '../../../domain/result.ts';
import { LEASE_SECONDS } from '../operations/operation-deps.ts';
import { installTools } from './install-role.ts';
import type { RoleSetupDeps } from './role-setup-deps.ts';
import { cancelSetup, retrySetup } from './role-setup-requests.ts';

/** Package managers are busy programs: more of them at once would keep people from their work. */
const MAX_AT_ONCE = 3;

type Running = { readonly stop: AbortController; readonly done: Promise<void> };

export type RoleSetups = ReturnType<typeof roleSetups>;

/** Installs the tools of roles in the background. Of several processes one at a time works on each. */
export function roleSetups(deps: RoleSetupDeps) {
  const { storage, owner, log } = deps;
  const { roleSetups: setups } = storage.repositories;
  const running = new Map<string, Running>();
  let looking: Promise<void> | null = null;
  let firstTime = true;
  let closed = false;

  function begin(container: Container): void {
    const { id } = container.roleSetup;
    if (id === null || running.has(id)) return;
    const stop = new AbortController();
    const done = installTools(deps, { container, id, signal: stop.signal })
      .catch((err: unknown) => log.warn({ err }, 'a role setup failed'))
      .then(() => {
        running.delete(id);
        if (!closed) void takeUp();
      });
    running.set(id, { stop, done });
  }

  async function look(): Promise<void> {
    const places = MAX_AT_ONCE - running.size;
    if (places <= 0 || closed) return;
    const taken = await setups.takeUp(owner, LEASE_SECONDS, firstTime, places);
    firstTime = false;
    for (const container of taken) begin(container);
  }

  /** Begins with what is due, as far as there are places. Never throws. */
  function takeUp(): Promise<void> {
    looking ??= look()
      .catch((err: unknown) => log.warn({ err }, 'could not check for roles to install'))
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  /** Lets go at once of what a request has ended or begun anew. */
  function dropOthers(container: Container, before: string | null): void {
    if (before !== null && before !== container.roleSetup.id) running.get(before)?.stop.abort();
    void takeUp();
  }

  return {
    takeUp,

    /** Keeps the leases of the work in progress, and looks for more; for a timer. */
    async keep(): Promise<void> {
      if (running.size > 0) await setups.renew([...running.keys()], owner, LEASE_SECONDS);
      await takeUp();
    },

    retry: (id: string, caller: Caller, origin: Origin): Promise<Result<Container, DomainError>> =>
      retrySetup(deps, dropOthers, { id, caller, origin }),

    cancel: (id: string, caller: Caller, origin: Origin): Promise<Result<Container, DomainError>> =>
      cancelSetup(deps, dropOthers, { id, caller, origin }),

    /** Waits until nothing is being worked on. */
    async idle(): Promise<void> {
      await looking;
      while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
    },

    /** Ends what is under way, in the containers too, and leaves it to whoever comes next. */
    async close(): Promise<void> {
      closed = true;
      await looking;
      const all = [...running];
      for (const [, { stop }] of all) stop.abort();
      await Promise.all(all.map(([, { done }]) => done));
      await Promise.all(all.map(([id]) => setups.release(id, owner))).catch(() => undefined);
    },
  };
}
