import { type Static, Type } from '@sinclair/typebox';
import { SSH_CHANNELS } from '../../domain/terminals/ssh.ts';

// An address or range: four numbers with dots, or at least two colons, and an optional length after a slash.
const ONE_PROXY = '(\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*)(/\\d{1,3})?';
const TRUSTED_PROXIES = `^${ONE_PROXY}(\\s*,\\s*${ONE_PROXY})*$`;

// The service and its browsers talk to it across the network, so plain http is for tests on one machine.
const OIDC_ISSUER =
  '^(https://[^/\\s?#]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?)(/[^\\s?#]*)?$';

const ONE_MANAGER = '(unix|tcp|https?)://[^,\\s]+';

/** Every environment setting. `npm start` refuses to start when any is invalid. */
export const Environment = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'a postgres:// address' }),
  ),
  BERTH_BUS_URL: Type.Optional(
    Type.String({
      pattern: '^rediss?://([^\\s/?#@]*@)?[^\\s/?#@]+(/\\d+)?/?$',
      description: 'a redis:// or rediss:// address, its password percent-encoded',
    }),
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
  BERTH_ENGINE: Type.Union(
    ['auto', 'external', 'kubernetes', 'swarm'].map((engine) => Type.Literal(engine)),
    { default: 'auto', description: 'auto, external, kubernetes or swarm' },
  ),
  DOCKER_CERT_PATH: Type.Optional(Type.String({ description: 'a folder' })),
  BERTH_SWARM_NODE_URL: Type.String({
    default: 'https://{addr}:2376',
    pattern: '^(https?|tcp|unix)://.',
    description: 'an https:// address with {addr}, {hostname} or {id}',
  }),
  BERTH_SWARM_MANAGERS: Type.Optional(
    Type.String({
      pattern: `^${ONE_MANAGER}(\\s*,\\s*${ONE_MANAGER})*$`,
      description: 'tcp:// or unix:// addresses of managers, separated by commas',
    }),
  ),
  BERTH_SWARM_NODES: Type.Optional(
    Type.String({
      pattern: '^\\{',
      description: 'a JSON object with the addresses of engines, by node id or host name',
    }),
  ),
  KUBECONFIG: Type.Optional(Type.String({ description: 'a file' })),
  BERTH_KUBERNETES_CONTEXT: Type.Optional(Type.String({ description: 'a context of the kubeconfig' })),
  BERTH_KUBERNETES_NAMESPACE: Type.Optional(
    Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$', description: 'the name of a namespace' }),
  ),
  BERTH_KUBERNETES_STORAGE_CLASS: Type.Optional(Type.String({ description: 'a storage class' })),
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

export type Environment = Static<typeof Environment>;
