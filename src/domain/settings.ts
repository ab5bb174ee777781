/** What administrators can change at runtime. */
export type Settings = {
  readonly openRegistration: boolean;
  readonly sessionIdleMinutes: number;
  /** Whether people may enter without an account. Off in a new installation. */
  readonly guestsEnabled: boolean;
  readonly guestLifetimeHours: number;
  /** Per credential or address; 0 for no limit. */
  readonly requestsPerMinute: number;
  /** How long a deleted container's volume is kept. */
  readonly retentionDays: number;
  /** How long finished operations, ended sessions and shares, and rows of deleted containers are kept. */
  readonly historyDays: number;
  /** The limit for all recordings of a user; 0 for none. */
  readonly recordingsMbPerUser: number;
  /** Open terminals and event sockets of one address (IPv6: /64), in each process. */
  readonly socketsPerAddress: number;
  /** Whether a first sign-in at the OpenID provider makes an account. */
  readonly oidcCreateAccounts: boolean;
  /** The tier of these accounts. */
  readonly oidcTier: string;
  /** Whether a first sign-in opens the account with the provider's verified address, unless an administrator's. */
  readonly oidcMatchByEmail: boolean;
};

export const DEFAULT_SETTINGS: Settings = {
  openRegistration: false,
  sessionIdleMinutes: 24 * 60,
  guestsEnabled: false,
  guestLifetimeHours: 24,
  requestsPerMinute: 600,
  retentionDays: 7,
  historyDays: 30,
  recordingsMbPerUser: 512,
  // An office of 250 behind one address, each with a page and three terminals.
  socketsPerAddress: 1000,
  oidcCreateAccounts: false,
  oidcTier: 'free',
  oidcMatchByEmail: false,
};
