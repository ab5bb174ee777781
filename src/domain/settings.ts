/** What administrators can change while the service runs. */
export type Settings = {
  readonly openRegistration: boolean;
  readonly sessionIdleMinutes: number;
  /** Whether people may enter without an account. Off until an administrator turns it on. */
  readonly guestsEnabled: boolean;
  readonly guestLifetimeHours: number;
  /** For one credential or one address; 0 for no limit. */
  readonly requestsPerMinute: number;
  /** How long the volume of a deleted container is kept. */
  readonly retentionDays: number;
  /** How long to keep finished operations, ended sessions and shares, and rows of deleted containers. */
  readonly historyDays: number;
  /** What all recordings of one user may hold; 0 for none. */
  readonly recordingsMbPerUser: number;
  /** Terminals and event sockets that are open at once from one address (of IPv6 one /64), in each process. */
  readonly socketsPerAddress: number;
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
};
