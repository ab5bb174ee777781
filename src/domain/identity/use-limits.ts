/** A user's limits: requests a minute, sign-ins and tokens apart, and concurrent uses, in each process. */
export type UseLimits = {
  /** 0 for no limit. */
  readonly requestsPerMinute: number;
  readonly maxTerminals: number;
  readonly maxEventSockets: number;
  readonly maxCommands: number;
  readonly maxUploads: number;
  /** Files, archives, recordings, audit exports and logs being read. */
  readonly maxDownloads: number;
};

/** Uses that count while they last. */
export type LastingUse = 'terminals' | 'event_sockets' | 'commands' | 'uploads' | 'downloads';

const LIMITS: Readonly<Record<LastingUse, Exclude<keyof UseLimits, 'requestsPerMinute'>>> = {
  terminals: 'maxTerminals',
  event_sockets: 'maxEventSockets',
  commands: 'maxCommands',
  uploads: 'maxUploads',
  downloads: 'maxDownloads',
};

export const limitOf = (use: LastingUse, limits: UseLimits): number => limits[LIMITS[use]];

/** For tier `free`, and for a new tier without limits of its own. */
export const DEFAULT_USE_LIMITS: UseLimits = {
  requestsPerMinute: 1200,
  maxTerminals: 64,
  maxEventSockets: 64,
  maxCommands: 32,
  maxUploads: 16,
  maxDownloads: 32,
};
