/**
 * Something that a container must not reach, but did. `node`: services of the machine that it runs on, in a cluster;
 * `cluster`: the cluster's API.
 */
export type Reached = {
  readonly what: 'neighbour' | 'host' | 'engine' | 'metadata' | 'node' | 'cluster';
  /** An address with a port, or a path. */
  readonly at: string;
};

/** A test of the isolation of containers. */
export type Canary = {
  /**
   * Starts two usual containers and tries to reach from one the other, and what is around them. Returns what was
   * reached. Throws when it could not be tried.
   */
  prove(): Promise<readonly Reached[]>;
  /** Ends the check and removes its containers. */
  stop(): Promise<void>;
};
