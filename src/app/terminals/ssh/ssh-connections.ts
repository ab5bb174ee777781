import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { SSH_LIMITS, sharedChannels } from '../../../domain/terminals/ssh.ts';
import { CLOSE, type CloseReason } from '../../../domain/terminals/terminal.ts';
import type { StoredEvent } from '../../../ports/event-log.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { findOwn, listVisible } from '../../containers/find-container.ts';
import type { ContainerUses } from '../../containers/lifetime/container-uses.ts';
import type { EventFeed } from '../../events/event-feed.ts';
import type { AuthorizedConnections, Registration } from '../../identity/auth/authorized-connections.ts';
import { ratesOf } from '../../identity/auth/verified-credential.ts';
import { countsByKey } from '../../identity/limits/counts-by-key.ts';
import type { RequestLimits } from '../../identity/limits/request-limits.ts';
import { type SshIdentity, type SshRecordDeps, sshRecords } from './ssh-records.ts';

export type SshClient = SshIdentity & {
  /** Ends the connection at once. Nothing is sent or accepted afterwards. */
  readonly close: (reason: CloseReason) => void;
};

export type SshConnection = {
  readonly caller: Caller;
  readonly origin: RequestOrigin;
  /** null when the client named none of its user's containers. */
  readonly container: Container | null;
  /** The user's containers, for that client. */
  readonly names: readonly string[];
  /** Counts a use, and calls `then` when the credential is valid; false when too much waits for that. */
  readonly use: Registration['use'];
  /** Takes one of the channels; the result releases it. Refused when too many are open, or were opened this minute. */
  takeChannel(): Result<() => void, DomainError>;
  /** The same for a listener. */
  takeListener(): Result<() => void, DomainError>;
  /** Records the end, once. `bytes`: received and sent. */
  end(bytes: number): void;
};

export type SshConnectionsDeps = SshRecordDeps & {
  readonly live: AuthorizedConnections;
  readonly feed: EventFeed<StoredEvent>;
  readonly requests: Pick<RequestLimits, 'admitFor'>;
  readonly uses: Pick<ContainerUses, 'begin'>;
  /** Whether the caller, by the present state, may keep a connection. */
  readonly mayStay: (now: Caller) => boolean;
  /** Of one connection at the same time. */
  readonly channelsPerConnection: number;
};

export type SshConnections = ReturnType<typeof sshConnections>;

type Open = {
  readonly deps: SshConnectionsDeps;
  readonly counts: ReturnType<typeof countsByKey>;
  readonly clients: Map<SshClient, () => void>;
  readonly records: ReturnType<typeof sshRecords>;
};

/** The first interval between checks of a container while the database does not answer; later ones grow. */
const FIRST_CHECK_MS = 5_000;
const LONGEST_CHECK_MS = 60_000;

/** This process's SSH connections. Each ends with its credential, and with its container's run. */
export function sshConnections(deps: SshConnectionsDeps) {
  const open: Open = { deps, counts: countsByKey(), clients: new Map(), records: sshRecords(deps) };
  return {
    connect: (client: SshClient) => connect(open, client),

    count: (): number => open.clients.size,

    closeAll(reason: CloseReason): void {
      deps.feed.close(reason);
      for (const client of [...open.clients.keys()]) client.close(reason);
    },

    /** Resolves when every end is on record. */
    over: open.records.written,
  };
}

async function connect(open: Open, client: SshClient): AsyncResult<SshConnection> {
  const { repositories, live, mayStay } = open.deps;
  const { caller } = client.signedIn;
  const admitted = admit(open, client);
  if (!admitted.ok) return admitted;
  const release = open.counts.take(`connection ${caller.user.id}`, SSH_LIMITS.connectionsPerUser);
  if (release === null) return refuse({ code: 'too_many_at_once', retryAfterSeconds: 5 });
  const undo = [release];
  const undoAll = (): void => undo.forEach((step) => void step());
  try {
    const { container, names } = await targetOf(repositories, client);
    if (container !== null) {
      undo.push(await follow(open.deps, client, container));
      undo.push(await open.deps.uses.begin(container, 'ssh'));
    }
    await open.records.start(client, container);
    const registration = live.register({ caller, mayStay, close: () => client.close(CLOSE.unauthorized) });
    undo.push(registration.end);
    const startMs = performance.now();
    const end = (bytes: number): void => {
      if (!open.clients.delete(client)) return;
      undoAll();
      if (container === null) return;
      const seconds = Math.round((performance.now() - startMs) / 1000);
      open.records.end(client, container, { seconds, bytes });
    };
    open.clients.set(client, () => end(0));
    return ok({
      caller,
      origin: client.origin,
      container,
      names,
      end,
      use: registration.use,
      takeChannel: channels(open, client),
      takeListener: listeners(open, client),
    });
  } catch (error) {
    undoAll();
    throw error;
  }
}

/** Counts as a request of the credential and of its user. */
function admit({ deps }: Open, { signedIn }: SshClient): Result<null, DomainError> {
  return deps.requests.admitFor(ratesOf(signedIn));
}

function channels(open: Open, client: SshClient): SshConnection['takeChannel'] {
  const { user } = client.signedIn.caller;
  const { channelsPerConnection } = open.deps;
  const own = countsByKey();
  return () => {
    const admitted = admit(open, client);
    if (!admitted.ok) return admitted;
    const ofConnection = own.take('all', channelsPerConnection);
    const ofUser =
      own.take('reserved', SSH_LIMITS.reservedChannels) ??
      open.counts.take(`channel ${user.id}`, sharedChannels(channelsPerConnection));
    if (ofConnection !== null && ofUser !== null)
      return ok(() => {
        ofConnection();
        ofUser();
      });
    ofConnection?.();
    ofUser?.();
    return refuse({ code: 'too_many_at_once', retryAfterSeconds: 5 });
  };
}

function listeners(open: Open, client: SshClient): SshConnection['takeListener'] {
  const key = `listener ${client.signedIn.caller.user.id}`;
  return () => {
    const admitted = admit(open, client);
    if (!admitted.ok) return admitted;
    const release = open.counts.take(key, SSH_LIMITS.listenersPerUser);
    return release === null ? refuse({ code: 'too_many_at_once', retryAfterSeconds: 5 }) : ok(release);
  };
}

/** By name, as people write it, else by either id. */
async function targetOf(
  repositories: Repositories,
  { signedIn: { caller }, wanted }: SshClient,
): Promise<Pick<SshConnection, 'container' | 'names'>> {
  const visible = await listVisible(repositories, caller);
  const own = visible.flatMap(({ container, access }) => (access === null ? [container] : []));
  const named = own.find(({ name }) => name === wanted);
  const byId = named !== undefined ? null : await findOwn(repositories, wanted, caller);
  return { container: named ?? (byId?.ok ? byId.value : null), names: own.map(({ name }) => name).sort() };
}

/** Ends the connection when its container stops, restarts, is deleted or given away, by whichever process. */
async function follow(deps: SshConnectionsDeps, client: SshClient, container: Container) {
  const { feed } = deps;
  await feed.ready();
  const checks = checksOf(deps, client, container);
  const { end } = feed.subscribe(
    {
      userId: client.signedIn.caller.user.id,
      reaches: (id) => id === container.dbId,
      mayAdminister: () => false,
      send: (event) => {
        const reason = endOf(event);
        if (reason !== null) client.close(reason);
      },
      resync: () => void checks.begin(),
      close: client.close,
    },
    null,
  );
  // why: it may have stopped since it was read
  if (container.state === 'running') await checks.begin();
  return () => {
    checks.end();
    end();
  };
}

/** `begin` checks whether the client still has this run of its container, again and again until the database answers. */
function checksOf(
  { repositories, log }: SshConnectionsDeps,
  client: SshClient,
  { dbId, runtimeId }: Container,
) {
  let isOver = false;
  let retry: NodeJS.Timeout | undefined;
  const check = async (waitMs: number): Promise<void> => {
    clearTimeout(retry);
    try {
      const now = await repositories.containers.findAny(dbId);
      const isOwn = now?.ownerId === client.signedIn.caller.user.id;
      if (!isOwn || now.state !== 'running' || now.runtimeId !== runtimeId)
        client.close(CLOSE.containerStopped);
    } catch (err) {
      log.warn({ err, dbId }, 'could not check a container');
      if (isOver) return;
      clearTimeout(retry);
      retry = setTimeout(() => void check(Math.min(2 * waitMs, LONGEST_CHECK_MS)), waitMs).unref();
    }
  };
  return {
    begin: (): Promise<void> => check(FIRST_CHECK_MS),
    end(): void {
      isOver = true;
      clearTimeout(retry);
    },
  };
}

function endOf({ type, data }: StoredEvent): CloseReason | null {
  if (type === 'container_deleted') return CLOSE.containerDeleted;
  if (type === 'container_stopped' || type === 'container_transferred') return CLOSE.containerStopped;
  return type === 'container_updated' && data['restarted'] === true ? CLOSE.containerRestarted : null;
}
