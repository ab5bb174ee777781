/** What a Pod has beside its container, which mounts it. */
export type PodPart = {
  readonly initContainers: readonly object[];
  readonly volumes: readonly object[];
  readonly mounts: readonly object[];
};
