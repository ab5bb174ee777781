/** A thing with a health of its own. */
export const COMPONENTS = [
  'service',
  'database',
  'engine',
  'image',
  'disk',
  'isolation',
  'replicas',
] as const;

export type Component = (typeof COMPONENTS)[number];

const NAMES = {
  service: 'Berth',
  database: 'Database',
  engine: 'Engine',
  image: 'Default image',
  disk: 'Disk quotas',
  isolation: 'Isolation',
  replicas: 'Process',
} satisfies Readonly<Record<Component, string>>;

export const componentName = (component: Component): string => NAMES[component];

const SEE_LOG = 'See the log of the service.';

/** Why a component is not ready: the end of a headline, and what to do about it; null for nothing. */
const REASONS = {
  stopped: { is: 'stopped', advice: null },
  not_running: { is: 'not running', advice: 'See the log of the machine for why it ended.' },
  unreachable: { is: 'unreachable', advice: 'Start it again. Berth reconnects by itself.' },
  missing: { is: 'missing', advice: 'Start a container engine: see docs/engine.md.' },
  unusable: { is: 'unusable', advice: SEE_LOG },
  starting: { is: 'being prepared', advice: 'Wait: Berth is preparing it.' },
  waiting: { is: 'waiting for the engine', advice: 'Bring back the engine.' },
  absent: { is: 'not in the catalogue', advice: 'Add it: Administration, Images.' },
  failed: { is: 'not prepared', advice: 'See the log of the service. Berth keeps trying.' },
  incomplete: { is: 'without its tools', advice: 'See the log of the service. Berth keeps trying.' },
  unenforced: { is: 'not enforced', advice: 'See docs/disk.md.' },
  open: { is: 'broken', advice: 'Close what containers can reach: see docs/engine.md, or docs/cluster.md.' },
  untested: {
    is: 'not tested',
    advice: 'See the log of the service, and docs/engine.md or docs/cluster.md.',
  },
  filter_changed: {
    is: 'changed from outside',
    advice: 'Find out what changes the packet filter, or in a cluster the network policy.',
  },
  filter_refused: {
    is: 'without its rules',
    advice: 'See the log of the service, and docs/engine.md or docs/cluster.md.',
  },
  silent: { is: 'silent', advice: 'Start the process again, or stop it properly if it is not needed.' },
  unknown: { is: 'not ready', advice: SEE_LOG },
} as const;

export type HealthReason = keyof typeof REASONS;

/** A headline, such as `Engine unreachable`. */
export const outageWords = (component: Component, reason: HealthReason): string =>
  `${NAMES[component]} ${REASONS[reason].is}`;

/** A headline, such as `Isolation being tested`. */
export const testingWords = (component: Component): string => `${NAMES[component]} being tested`;

/** What to do about it; null for nothing. */
export const adviceOf = (reason: HealthReason): string | null => REASONS[reason].advice;
