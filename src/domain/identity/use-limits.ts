/** What one user may do in a minute, over all its credentials, and at once in each process of the service. */
export type UseLimits = {
  /** 0 for no limit. */
  readonly requestsPerMinute: number;
  readonly maxTerminals: number;
  readonly maxEventSockets: number;
  readonly maxCommands: number;
  readonly maxUploads: number;
  /** Files, archives, recordings, exports of the audit and logs, as long as they are read. */
  readonly maxDownloads: number;
};

/** What is counted while it lasts. */
export type LastingUse = 'terminals' | 'event_sockets' | 'commands' | 'uploads' | 'downloads';

const LIMITS: Readonly<Record<LastingUse, Exclude<keyof UseLimits, 'requestsPerMinute'>>> = {
  terminals: 'maxTerminals',
  event_sockets: 'maxEventSockets',
  commands: 'maxCommands',
  uploads: 'maxUploads',
  downloads: 'maxDownloads',
};

/** How much of that use a user may have at once. */
export const limitOf = (use: LastingUse, limits: UseLimits): number => limits[LIMITS[use]];

/** Of tier `free`, and of a new tier that names none. */
export const DEFAULT_USE_LIMITS: UseLimits = {
  requestsPerMinute: 1200,
  maxTerminals: 64,
  maxEventSockets: 64,
  maxCommands: 32,
  maxUploads: 16,
  maxDownloads: 32,
};
