import { Agent, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, type RequestOptions as SecureRequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';

/** Where the cluster is. null: the usual kubeconfig, else the service account of the Pod that Berth runs in. */
export type ClusterAddress = {
  readonly kubeconfig: string | null;
  /** null: the kubeconfig's current one. */
  readonly context: string | null;
  /** null: that of the context, or of the service account. */
  readonly namespace: string | null;
};

/** TLS, credentials and the agent of one request or WebSocket. */
export type ConnectionOptions = RequestOptions & SecureRequestOptions & { headers: Record<string, string> };

export type ClusterAccess = {
  /** Its API server, without a slash at the end. */
  readonly server: string;
  /** Of everything that Berth makes in the cluster. */
  readonly namespace: string;
  /** With credentials of now; throws `RuntimeUnavailable` without any. Tokens of a service account change every hour. */
  options(): Promise<ConnectionOptions>;
};

/** The options of Node's own keep-alive agents. */
const KEPT_ALIVE = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

/** Reads the kubeconfig or the service account. Throws when it names no cluster. Connects to nothing yet. */
export async function clusterAccess(settings: ClusterAddress): Promise<ClusterAccess> {
  // Loading it takes a second and 30 MB, which only those with a cluster pay.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (settings.kubeconfig !== null) config.loadFromFile(settings.kubeconfig);
  else if (process.env['KUBERNETES_SERVICE_HOST'] !== undefined) config.loadFromCluster();
  else config.loadFromDefault();
  if (settings.context !== null) config.setCurrentContext(settings.context);
  const context = config.getContextObject(config.getCurrentContext());
  const cluster = config.getCurrentCluster();
  if (context === null || cluster === null)
    throw new Error(`the kubeconfig has no context ${config.getCurrentContext()}, or no cluster for it`);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: settings.namespace ?? context.namespace ?? 'default',
    options: connectionOptions(config, cluster.proxyUrl !== undefined),
  };
}

/** One agent as long as the credentials of TLS stay the same; the library makes one for each request. */
function connectionOptions(config: KubeConfig, hasProxy: boolean): ClusterAccess['options'] {
  let known: { readonly tls: string; readonly agent: Agent } | null = null;
  return async () => {
    const options: ConnectionOptions = { headers: {} };
    await config.applyToHTTPSOptions(options as never).catch((error: unknown) => {
      throw new RuntimeUnavailable(`no credentials for the cluster: ${String(error)}`, { cause: error });
    });
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
    const tls = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
    const text = JSON.stringify(tls);
    if (known?.tls !== text) {
      known?.agent.destroy();
      known = { tls: text, agent: hasProxy ? (options.agent as Agent) : ownAgent(config, tls) };
    }
    return { ...options, agent: known.agent };
  };
}

function ownAgent(config: KubeConfig, tls: SecureRequestOptions): Agent {
  const isPlain = config.getCurrentCluster()?.server.startsWith('http:');
  return isPlain ? new Agent(KEPT_ALIVE) : new SecureAgent({ ...tls, ...KEPT_ALIVE } as never);
}
