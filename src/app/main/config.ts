import path from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { LxcfsSetting } from '../../adapters/docker/resource-view/resource-view.ts';
import type { OpenIdSettings } from '../../adapters/security/openid/openid-provider.ts';
import type { QuotaSetting } from '../../domain/containers/disk-quota.ts';
import { SSH_CHANNELS } from '../../domain/terminals/ssh.ts';

// An address or range: four numbers with dots, or at least two colons, and an optional length after a slash.
const ONE_PROXY = '(\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*)(/\\d{1,3})?';
const TRUSTED_PROXIES = `^${ONE_PROXY}(\\s*,\\s*${ONE_PROXY})*$`;

// The service and its browsers talk to it across the network, so plain http is for tests on one machine.
const OIDC_ISSUER =
  '^(https://[^/\\s?#]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?)(/[^\\s?#]*)?$';

/** Every environment setting. `npm start` refuses to start when any is invalid. */
const Environment = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'a postgres:// address' }),
  ),
  DOCKER_HOST: Type.Optional(
    Type.String({ pattern: '^(unix|tcp|https?)://.', description: 'a unix:// or tcp:// address' }),
  ),
  BERTH_HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'an address to listen on' }),
  BERTH_PORT: Type.Integer({
    default: 8080,
    minimum: 0,
    maximum: 65_535,
    description: 'a port from 0 to 65535',
  }),
  BERTH_SSH_PORT: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 65_535, description: 'a port from 0 to 65535' }),
  ),
  BERTH_SSH_HOST: Type.Optional(Type.String({ description: 'an address to listen on' })),
  BERTH_SSH_CHANNELS: Type.Integer({
    default: SSH_CHANNELS.usual,
    minimum: SSH_CHANNELS.min,
    maximum: SSH_CHANNELS.max,
    description: `a number from ${SSH_CHANNELS.min} to ${SSH_CHANNELS.max}`,
  }),
  BERTH_DATA_DIR: Type.String({ default: '.berth', minLength: 1, description: 'a folder' }),
  BERTH_PUBLIC_URL: Type.Optional(
    Type.String({ pattern: '^https?://[^/]+/?$', description: 'an http(s) origin' }),
  ),
  BERTH_ALLOWED_ORIGINS: Type.Optional(
    Type.String({
      pattern: '^https?://[^/,\\s]+(\\s*,\\s*https?://[^/,\\s]+)*$',
      description: 'http(s) origins without a path, separated by commas',
    }),
  ),
  BERTH_TRUST_PROXY: Type.Optional(
    Type.String({ pattern: TRUSTED_PROXIES, description: 'addresses or ranges, separated by commas' }),
  ),
  BERTH_ADMIN_EMAIL: Type.Optional(
    Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', description: 'an email address' }),
  ),
  BERTH_ADMIN_PASSWORD: Type.Optional(
    Type.String({ minLength: 8, maxLength: 1024, description: '8 to 1024 characters' }),
  ),
  BERTH_JWT_SECRET: Type.Optional(
    Type.String({
      pattern: '^[^,]{32,}(,[^,]{32,})?$',
      description: 'one or two secrets of at least 32 characters each, separated by a comma',
    }),
  ),
  BERTH_OIDC_ISSUER: Type.Optional(
    Type.String({ pattern: OIDC_ISSUER, description: 'an https address, or http on a loopback address' }),
  ),
  BERTH_OIDC_CLIENT_ID: Type.Optional(Type.String({ minLength: 1, description: 'a client id' })),
  BERTH_OIDC_CLIENT_SECRET: Type.Optional(Type.String({ minLength: 1, description: 'a client secret' })),
  BERTH_OIDC_LABEL: Type.String({
    default: 'OpenID',
    pattern: '^[^\\x00-\\x1f\\x7f]{1,40}$',
    description: 'a name of at most 40 characters',
  }),
  BERTH_OIDC_SCOPES: Type.String({
    default: 'openid profile email',
    pattern: '^[\\x21-\\x7e]+( [\\x21-\\x7e]+)*$',
    description: 'scopes, separated by spaces',
  }),
  BERTH_LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace'].map((level) => Type.Literal(level)),
    { default: 'warn', description: 'one of fatal, error, warn, info, debug, trace' },
  ),
  BERTH_WARM_POOL: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 100,
    description: 'a number from 0 to 100',
  }),
  BERTH_ENGINE: Type.Union([Type.Literal('auto'), Type.Literal('external')], {
    default: 'auto',
    description: 'auto or external',
  }),
  BERTH_DISK_QUOTA: Type.Union([Type.Literal('auto'), Type.Literal('hard'), Type.Literal('soft')], {
    default: 'auto',
    description: 'auto, hard or soft',
  }),
  BERTH_METRICS_LOCAL: Type.Union([Type.Literal('auto'), Type.Literal('on'), Type.Literal('off')], {
    default: 'auto',
    description: 'auto, on or off',
  }),
  BERTH_DISK_FLOOR_MB: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of MB' })),
  BERTH_LXCFS: Type.String({
    default: 'auto',
    pattern: '^(auto|off|/.+)$',
    description: 'auto, off or the folder of an lxcfs on the machine of the engine',
  }),
  BERTH_PIN_CORES: Type.Union([Type.Literal('auto'), Type.Literal('off')], {
    default: 'auto',
    description: 'auto or off',
  }),
  BERTH_ENGINE_POOL_MB: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of MB' })),
});

/** The settings with their defaults, by name. */
export const SETTINGS: Readonly<Record<string, { readonly default?: unknown }>> = Environment.properties;

export type Config = {
  readonly databaseUrl: string | null;
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
  readonly engine: 'auto' | 'external';
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
  const unknown = Object.keys(env).filter((key) => key.startsWith('BERTH_') && !known.includes(key));
  faults.push(...unknown.map((key) => `${key} is not a known setting`));
  if (!invalid.has('BERTH_JWT_SECRET')) faults.push(...secretFaults(env['BERTH_JWT_SECRET']));
  if (!env['BERTH_ADMIN_EMAIL'] !== !env['BERTH_ADMIN_PASSWORD']) {
    faults.push('BERTH_ADMIN_EMAIL and BERTH_ADMIN_PASSWORD must be set together');
  }
  faults.push(...oidcFaults(env));
  return faults.length > 0 ? { faults } : { config: toConfig(value as Static<typeof Environment>) };
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
const looksProxied = (env: Static<typeof Environment>): boolean =>
  [env.BERTH_PUBLIC_URL, env.BERTH_ALLOWED_ORIGINS, env.BERTH_TRUST_PROXY].some((one) => one !== undefined);

function toOpenId(env: Static<typeof Environment>): OpenIdSettings | null {
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

function toConfig(env: Static<typeof Environment>): Config {
  const { BERTH_ADMIN_EMAIL: email, BERTH_ADMIN_PASSWORD: password } = env;
  return {
    databaseUrl: env.DATABASE_URL ?? null,
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
    localMetrics: env.BERTH_METRICS_LOCAL === 'auto' ? !looksProxied(env) : env.BERTH_METRICS_LOCAL === 'on',
    admin: email !== undefined && password !== undefined ? { email, password } : null,
    jwtSecret: env.BERTH_JWT_SECRET ?? null,
    oidc: toOpenId(env),
    logLevel: env.BERTH_LOG_LEVEL as string,
    warmPool: env.BERTH_WARM_POOL,
    engine: env.BERTH_ENGINE as 'auto' | 'external',
    diskQuota: env.BERTH_DISK_QUOTA as QuotaSetting,
    diskFloorMb: env.BERTH_DISK_FLOOR_MB ?? null,
    enginePoolMb: env.BERTH_ENGINE_POOL_MB ?? null,
    lxcfs: env.BERTH_LXCFS as LxcfsSetting,
    pinsCores: env.BERTH_PIN_CORES === 'auto',
  };
}
