import type Docker from 'dockerode';

/** What Berth reads of a swarm's objects. */

/** The labels of an object, by which an installation knows its own. */
export type Labels = Readonly<Record<string, string>>;

export type SwarmNode = {
  readonly ID: string;
  /** Rises with every change of the node, also when its engine rejoins. */
  readonly Version?: { readonly Index: number };
  readonly Spec: { readonly Availability?: 'active' | 'pause' | 'drain' };
  readonly Status: { readonly State?: string; readonly Addr?: string };
  /** Of managers. `Addr`: with a port. */
  readonly ManagerStatus?: { readonly Addr?: string };
  readonly Description: {
    readonly Hostname?: string;
    /** In the words of the node's kernel, such as `x86_64`. */
    readonly Platform?: { readonly Architecture?: string };
    readonly Resources?: { readonly NanoCPUs?: number; readonly MemoryBytes?: number };
  };
};

/** What a start changes of a service's container. */
export type ServiceContainer = {
  /** By its id. */
  readonly Image: string;
  readonly Mounts: readonly (Partial<Docker.MountSettings> & Pick<Docker.MountSettings, 'Target'>)[];
};

/** Only what Berth changes; the rest of a specification goes back as it came. */
export type ServiceSpec = {
  readonly Name: string;
  readonly Labels: Labels;
  readonly Mode: { readonly Replicated: { readonly Replicas: number } };
  readonly TaskTemplate: {
    readonly ForceUpdate?: number;
    readonly ContainerSpec: ServiceContainer;
  } & Readonly<Record<string, unknown>>;
} & Readonly<Record<string, unknown>>;

export type Service = {
  readonly ID: string;
  readonly Version: { readonly Index: number };
  readonly UpdatedAt?: string;
  readonly Spec: ServiceSpec;
  /** Of a list that asked for it. */
  readonly ServiceStatus?: { readonly RunningTasks: number };
};

export type Task = {
  readonly ID: string;
  readonly CreatedAt: string;
  readonly NodeID?: string;
  readonly DesiredState: string;
  readonly Spec: { readonly ForceUpdate?: number };
  readonly Status: {
    readonly State: string;
    readonly Timestamp: string;
    readonly Message?: string;
    readonly Err?: string;
    readonly ContainerStatus?: { readonly ContainerID?: string; readonly ExitCode?: number };
  };
};

/** A record that all managers keep. */
export type SwarmConfig = {
  readonly ID: string;
  readonly Spec: { readonly Name: string; readonly Labels?: Labels | null };
};

/** Rises with every change of the node, also when its engine rejoins. */
export const versionOf = ({ Version }: SwarmNode): number => Version?.Index ?? 0;
