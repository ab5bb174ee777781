import path from 'node:path';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { LxcfsSetting } from '../../adapters/docker/resource-view/resource-view.ts';
import type { ClusterAddress } from '../../adapters/kubernetes/client/cluster-access.ts';
import type { OpenIdSettings } from '../../adapters/security/openid/openid-provider.ts';
import type { NodeAddresses } from '../../adapters/swarm/client/node-address.ts';
import type { QuotaSetting } from '../../domain/containers/disk-quota.ts';
import { Environment } from './environment.ts';

/** The settings with their defaults, by name. */
export const SETTINGS: Readonly<Record<string, { readonly default?: unknown }>> = Environment.properties;

export type Config = {
  readonly databaseUrl: string | null;
  /** The Redis for messages between processes, which may have a password; null: the database. */
  readonly busUrl: string | null;
  readonly dockerHost: string | null;
  readonly host: string;
  readonly port: number;
  /** Where SSH listens; null for HTTPS alone. */
  readonly ssh: { readonly host: string; readonly port: number } | null;
  /** Of one SSH connection at the same time. */
  readonly sshChannels: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly publicUrl: string | null;
  readonly allowedOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  /** Whether local programs read the metrics without a credential. */
  readonly localMetrics: boolean;
  readonly admin: { readonly email: string; readonly password: string } | null;
  readonly jwtSecret: string | null;
  /** null without an OpenID provider. */
  readonly oidc: OpenIdSettings | null;
  readonly logLevel: string;
  readonly warmPool: number;
  readonly engine: 'auto' | 'external' | 'kubernetes' | 'swarm';
  readonly cluster: ClusterAddress & {
    /** null: the cluster's default. */
    readonly storageClass: string | null;
  };
  /** Where the engines of a swarm's nodes answer. The managers are tried in this order; without any, the usual socket. */
  readonly swarm: NodeAddresses & { readonly managers: readonly string[] };
  readonly diskQuota: QuotaSetting;
  /** Free space that the host needs for anything new; null for a tenth or 5 GiB, whichever is smaller. */
  readonly diskFloorMb: number | null;
  /** Size of the private engine's file system; null for the default, 0 for none. */
  readonly enginePoolMb: number | null;
  readonly lxcfs: LxcfsSetting;
  /** Whether containers of a private engine run on as many cores as their limit fills. */
  readonly pinsCores: boolean;
};

export type Settings = { readonly config: Config } | { readonly faults: readonly string[] };

/** Settings of the command `berth`, which a shell that starts the service may have. */
const OF_THE_COMMAND = ['BERTH_SERVER', 'BERTH_TOKEN', 'BERTH_PROFILE'];

/** Reads the settings, or lists every fault at once. Never repeats secret values. */
export function readConfig(env: NodeJS.ProcessEnv): Settings {
  const known = Object.keys(Environment.properties);
  // An empty variable counts as unset.
  const given = Object.fromEntries(known.filter((key) => env[key]).map((key) => [key, env[key]]));
  const value = Value.Convert(Environment, Value.Default(Environment, given));
  const invalid = new Set(
    [...Value.Errors(Environment, value)].map(({ path: at }) => at.split('/')[1] ?? ''),
  );
  const faults = [...invalid].map((key) => `${key} must be ${descriptionOf(key)}`);
  const others = [...known, ...OF_THE_COMMAND];
  const unknown = Object.keys(env).filter((key) => key.startsWith('BERTH_') && !others.includes(key));
  faults.push(...unknown.map((key) => `${key} is not a known setting`));
  if (!invalid.has('BERTH_JWT_SECRET')) faults.push(...secretFaults(env['BERTH_JWT_SECRET']));
  if (!env['BERTH_ADMIN_EMAIL'] !== !env['BERTH_ADMIN_PASSWORD']) {
    faults.push('BERTH_ADMIN_EMAIL and BERTH_ADMIN_PASSWORD must be set together');
  }
  if (!invalid.has('BERTH_BUS_URL')) faults.push(...busFaults(env['BERTH_BUS_URL'] || undefined));
  if (!invalid.has('BERTH_SWARM_NODES')) faults.push(...swarmFaults(env['BERTH_SWARM_NODES'] || undefined));
  if (!invalid.has('BERTH_SWARM_MANAGERS')) faults.push(...managerFaults(env));
  faults.push(...oidcFaults(env));
  return faults.length > 0 ? { faults } : { config: toConfig(value as Environment) };
}

const descriptionOf = (key: string): string =>
  (Environment.properties as Record<string, { description?: string }>)[key]?.description ?? 'valid';

const list = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(',').map((part) => part.trim());

const MIN_DISTINCT = 10;

/** An easily guessed secret protects nothing. */
function secretFaults(setting: string | undefined): readonly string[] {
  const secrets = list(setting || undefined);
  return [
    ...(secrets.some((secret) => secret.length < 32 || new Set(secret).size < MIN_DISTINCT)
      ? ['BERTH_JWT_SECRET must be random: `openssl rand -base64 48` generates one']
      : []),
    ...(new Set(secrets).size < secrets.length
      ? ['BERTH_JWT_SECRET must contain two different secrets']
      : []),
  ];
}

/** The pattern admits ports and escapes that no address has. */
function busFaults(setting: string | undefined): readonly string[] {
  try {
    const { username, password } = new URL(setting ?? 'redis://none');
    decodeURIComponent(username + password);
    return [];
  } catch {
    return [`BERTH_BUS_URL must be ${descriptionOf('BERTH_BUS_URL')}`];
  }
}

/** The addresses of single nodes; null when the text is not such an object. */
function nodeUrls(setting: string | undefined): Readonly<Record<string, string>> | null {
  try {
    const urls: unknown = JSON.parse(setting ?? '{}');
    return Value.Check(Type.Record(Type.String(), Type.String({ pattern: '^(https?|tcp|unix)://.' })), urls)
      ? urls
      : null;
  } catch {
    return null;
  }
}

const swarmFaults = (setting: string | undefined): readonly string[] =>
  nodeUrls(setting) === null ? [`BERTH_SWARM_NODES must be ${descriptionOf('BERTH_SWARM_NODES')}`] : [];

function managerFaults(env: NodeJS.ProcessEnv): readonly string[] {
  const managers = list(env['BERTH_SWARM_MANAGERS'] || undefined);
  if (managers.length === 0) return [];
  return [
    ...(env['BERTH_ENGINE'] === 'swarm' ? [] : ['BERTH_SWARM_MANAGERS needs BERTH_ENGINE=swarm']),
    ...(env['DOCKER_HOST'] ? ['DOCKER_HOST and BERTH_SWARM_MANAGERS cannot be set together'] : []),
    ...(new Set(managers).size < managers.length
      ? ['BERTH_SWARM_MANAGERS must not name an address twice']
      : []),
    ...managers.flatMap((address) => addressFaults(address, env['DOCKER_CERT_PATH'])),
  ];
}

/** What keeps an address from being used. */
function addressFaults(address: string, certPath: string | undefined): readonly string[] {
  if (address.startsWith('unix:')) return [];
  if (!URL.canParse(address) || new URL(address).hostname === '')
    return [`BERTH_SWARM_MANAGERS: ${address} is not an address`];
  const { protocol, port } = new URL(address);
  const isSecure = protocol === 'https:' || port === '2376';
  return isSecure && !certPath ? [`BERTH_SWARM_MANAGERS: ${address} needs DOCKER_CERT_PATH`] : [];
}

/** The provider needs both; the rest is of no use without it. */
function oidcFaults(env: NodeJS.ProcessEnv): readonly string[] {
  const given = Object.keys(env).filter((key) => key.startsWith('BERTH_OIDC_') && env[key]);
  const needed = ['BERTH_OIDC_ISSUER', 'BERTH_OIDC_CLIENT_ID'];
  const isOpenId = (env['BERTH_OIDC_SCOPES'] || 'openid').split(' ').includes('openid');
  return [
    ...(given.length > 0 && needed.some((key) => !env[key])
      ? ['BERTH_OIDC_ISSUER and BERTH_OIDC_CLIENT_ID must both be set, or neither']
      : []),
    ...(isOpenId ? [] : ['BERTH_OIDC_SCOPES must contain openid']),
  ];
}

/** Settings that a proxy requires: local requests may then be anybody's. */
const isProxied = (env: Environment): boolean =>
  [env.BERTH_PUBLIC_URL, env.BERTH_ALLOWED_ORIGINS, env.BERTH_TRUST_PROXY].some((one) => one !== undefined);

function toOpenId(env: Environment): OpenIdSettings | null {
  const { BERTH_OIDC_ISSUER: issuer, BERTH_OIDC_CLIENT_ID: clientId } = env;
  if (issuer === undefined || clientId === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret: env.BERTH_OIDC_CLIENT_SECRET ?? null,
    label: env.BERTH_OIDC_LABEL,
    scopes: env.BERTH_OIDC_SCOPES.split(' '),
  };
}

function toConfig(env: Environment): Config {
  const { BERTH_ADMIN_EMAIL: email, BERTH_ADMIN_PASSWORD: password } = env;
  return {
    databaseUrl: env.DATABASE_URL ?? null,
    busUrl: env.BERTH_BUS_URL ?? null,
    dockerHost: env.DOCKER_HOST ?? null,
    host: env.BERTH_HOST,
    port: env.BERTH_PORT,
    ssh:
      env.BERTH_SSH_PORT === undefined
        ? null
        : { host: env.BERTH_SSH_HOST ?? env.BERTH_HOST, port: env.BERTH_SSH_PORT },
    sshChannels: env.BERTH_SSH_CHANNELS,
    dataDir: path.resolve(env.BERTH_DATA_DIR),
    publicUrl: env.BERTH_PUBLIC_URL?.replace(/\/$/, '') ?? null,
    allowedOrigins: list(env.BERTH_ALLOWED_ORIGINS),
    trustProxy: list(env.BERTH_TRUST_PROXY),
    localMetrics: env.BERTH_METRICS_LOCAL === 'auto' ? !isProxied(env) : env.BERTH_METRICS_LOCAL === 'on',
    admin: email !== undefined && password !== undefined ? { email, password } : null,
    jwtSecret: env.BERTH_JWT_SECRET ?? null,
    oidc: toOpenId(env),
    logLevel: env.BERTH_LOG_LEVEL as string,
    warmPool: env.BERTH_WARM_POOL,
    engine: env.BERTH_ENGINE as Config['engine'],
    cluster: {
      kubeconfig: env.KUBECONFIG ?? null,
      context: env.BERTH_KUBERNETES_CONTEXT ?? null,
      namespace: env.BERTH_KUBERNETES_NAMESPACE ?? null,
      storageClass: env.BERTH_KUBERNETES_STORAGE_CLASS ?? null,
    },
    swarm: {
      template: env.BERTH_SWARM_NODE_URL,
      byNode: nodeUrls(env.BERTH_SWARM_NODES) ?? {},
      certPath: env.DOCKER_CERT_PATH ?? null,
      managers: list(env.BERTH_SWARM_MANAGERS ?? env.DOCKER_HOST),
    },
    diskQuota: env.BERTH_DISK_QUOTA as QuotaSetting,
    diskFloorMb: env.BERTH_DISK_FLOOR_MB ?? null,
    enginePoolMb: env.BERTH_ENGINE_POOL_MB ?? null,
    lxcfs: env.BERTH_LXCFS as LxcfsSetting,
    pinsCores: env.BERTH_PIN_CORES === 'auto',
  };
}
