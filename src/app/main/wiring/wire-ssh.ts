import { sshHostKeyRoutes } from '../../../adapters/http/routes/identity/ssh-host-keys.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { containerHelpers } from '../../../adapters/scripts/exec/container-helpers.ts';
import { hostKeyMaker } from '../../../adapters/ssh/host-key-maker.ts';
import { sshListener } from '../../../adapters/ssh/ssh-listener.ts';
import { sshServer } from '../../../adapters/ssh/ssh-server.ts';
import { sshSocket } from '../../../adapters/websocket/ssh/ssh-socket.ts';
import { SSH_CHANNELS } from '../../../domain/terminals/ssh.ts';
import type { CloseReason } from '../../../domain/terminals/terminal.ts';
import { startProgram } from '../../containers/inside/exec.ts';
import { EventFeed } from '../../events/event-feed.ts';
import type { LoginThrottle } from '../../identity/auth/login-throttle.ts';
import { sshHostKeys } from '../../identity/auth/ssh-host-keys.ts';
import { sshSignIn } from '../../identity/sign-in/ssh-sign-in.ts';
import { sshAccess } from '../../terminals/ssh/ssh-access.ts';
import { sshConnections } from '../../terminals/ssh/ssh-connections.ts';
import { sshPrograms } from '../../terminals/ssh/ssh-programs.ts';
import type { Terminals } from '../../terminals/terminals.ts';
import type { ComposeOptions, Ports } from '../compose-options.ts';
import type { SharedServices } from './shared-services.ts';

export type SshWork = {
  readonly ssh: {
    /** Listens on a port of its own. Throws when it cannot. */
    readonly listen: (host: string, port: number) => Promise<void>;
    /** The port; null while SSH works over HTTPS alone. */
    readonly port: () => number | null;
    /** Accepts no more, and closes all connections. */
    readonly close: (reason: CloseReason) => void;
    /** Resolves when every connection's end is on record. */
    readonly over: () => Promise<void>;
  };
};

type OfOthers = {
  readonly throttle: LoginThrottle;
  readonly terminals: Terminals;
  readonly publicUrl: () => string;
};

/** The WebSocket route for SSH connections. */
const overHttps =
  (access: ReturnType<typeof sshAccess>, server: ReturnType<typeof sshServer>): Routes =>
  ({ sockets }) =>
    sshSocket(sockets, {
      access,
      serve: (stream, { caller, limits, dbId, ipAddress }) =>
        server.accept(stream, {
          ipAddress,
          // The request was counted for its credential.
          entered: { signedIn: { caller, requestsPerMinute: 0, limits }, wanted: dbId },
          admitted: () => {},
        }),
    });

/** SSH, by a port of its own and over HTTPS. */
export function wireSsh(
  ports: Ports,
  { logger: log, keys, connections: { sshChannels = SSH_CHANNELS.usual } }: ComposeOptions,
  shared: SharedServices,
  { throttle, terminals, publicUrl }: OfOthers,
) {
  const {
    storage,
    authenticator,
    authorizedConnections: live,
    requestLimits,
    activityRecords,
    containerUses: uses,
  } = shared;
  const { repositories } = storage;
  const { clock, commands, metrics, bus } = ports;
  const hostKeys = sshHostKeys({
    storage,
    maker: hostKeyMaker(),
    log,
    keys: () => keys.known().map((set) => set.hostKeys),
  });
  const connections = sshConnections({
    repositories,
    live,
    log,
    uses,
    acts: activityRecords,
    requests: requestLimits,
    mayStay: terminals.mayStay,
    channelsPerConnection: sshChannels,
    feed: new EventFeed({ events: repositories.events, bus, log, encode: (event) => event }),
  });
  metrics.watch('ssh_connections', connections.count);
  const start = startProgram({ storage, acts: activityRecords, clock, uses });
  const server = sshServer({
    connections,
    log,
    hostKeys: hostKeys.all,
    signIn: sshSignIn({ storage, authenticator, throttle, metrics }),
    programs: sshPrograms({ start, commands, helpers: containerHelpers(commands), terminals }),
  });
  const listener = sshListener(server, log);
  const port = (): number | null => listener.address()?.port ?? null;
  const host = (): string => (URL.canParse(publicUrl()) ? new URL(publicUrl()).hostname : 'localhost');
  const access = sshAccess({ storage, clock, hostKeys: hostKeys.all, host, port });
  const close = (reason: CloseReason): void => {
    listener.close();
    connections.closeAll(reason);
  };
  const work: SshWork = { ssh: { listen: listener.listen, port, close, over: connections.over } };
  return { routes: [sshHostKeyRoutes(access), overHttps(access, server)], work, reseal: hostKeys.reseal };
}
