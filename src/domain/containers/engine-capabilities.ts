/** What an engine does beyond running containers on volumes. */
export type EngineCapabilities = {
  /** A stopped container keeps what is outside its volume. */
  readonly keepsLayer: boolean;
  /** It makes images of containers and copies volumes: for snapshots and forks, and to carry a layer over. */
  readonly takesSnapshots: boolean;
  /** It measures what is outside a volume, and the volume of a stopped container. */
  readonly measuresDisk: boolean;
  /** Programs inside are root, so that they can install packages. */
  readonly hasRoot: boolean;
};

export const ALL_CAPABILITIES: EngineCapabilities = {
  keepsLayer: true,
  takesSnapshots: true,
  measuresDisk: true,
  hasRoot: true,
};
