import type { Resources } from '../../domain/containers/resources.ts';
import { ENGINE_RETRY_SECONDS } from '../../domain/fair-queue.ts';

/** Where a container is. `node` names its engine, so that a cluster fits behind this port. */
export type RuntimeHandle = {
  readonly node: string;
  /** The engine's full id: 64 hex digits for Docker. */
  readonly runtimeId: string;
  /** The user whose turn an engine call takes. */
  readonly ownerId?: string;
};

/** The engine's present state. `gone` is an answer of a healthy engine, never a guess about a silent one. */
export type ObservedContainer =
  /**
   * `isEnding`: it has been asked to end, and its programs may still run. `isSilent`: its node does not answer the engine,
   * so it ran when last heard of.
   */
  | {
      readonly kind: 'running';
      readonly startedAt: Date;
      readonly isEnding?: true;
      readonly isSilent?: true;
    }
  /** Frozen from outside Berth; the next start resumes it. */
  | { readonly kind: 'paused' }
  /** `isInMaintenance`: its node starts no containers now. */
  | { readonly kind: 'stopped'; readonly exitCode: number; readonly isInMaintenance?: true }
  | { readonly kind: 'gone' };

/** Everything needed to make the engine's container for a row. */
export type ContainerSpec = {
  readonly dbId: string;
  /** null for a member of the warm pool. */
  readonly ownerId: string | null;
  /** Grows with every recreate; part of the engine name. */
  readonly generation: number;
  /** null when no operation makes it. */
  readonly operationId: string | null;
  /** Image reference as in the catalogue. */
  readonly image: string;
  /** Volume for /workspace; created when absent, never removed here. */
  readonly volume: string;
  readonly hostname: string;
  readonly resources: Resources;
  readonly env: Readonly<Record<string, string>>;
  /** It may stay stopped: whether its node could start it does not matter now. */
  readonly mayStayStopped?: true;
  /** For the warm pool: the engine shows it as a member until `claim`. */
  readonly isMember?: true;
};

/** A container with this installation's labels. */
export type ListedContainer = {
  readonly handle: RuntimeHandle;
  readonly dbId: string;
  readonly generation: number;
  readonly state: Exclude<ObservedContainer['kind'], 'gone'>;
  /** Its node does not answer the engine, as far as the engine knows: this was its state when last heard of. */
  readonly isSilent?: true;
  /** It has been asked to end, as far as the engine knows: its programs may still run, or its node has not answered. */
  readonly isEnding?: true;
  /** It was made for the warm pool, and nobody has ever claimed it. */
  readonly isMember?: true;
};

/** Whether a removal or a stop could only wait for its node or its end. A later listing shows what became of it. */
export const isWaitedFor = ({ isSilent, isEnding }: ListedContainer): boolean =>
  isSilent === true || isEnding === true;

/**
 * How far a stop is awaited: until the engine has released all that the container had, or only until none of its
 * programs runs, so that another container may use its volume. An engine that cannot tell earlier awaits all.
 */
export type StopUntil = 'released' | 'ended';

/**
 * Where containers run. Commands are idempotent: reaching a state that already holds, or removing something absent,
 * succeeds. Nothing without this installation's label is touched. Every method throws `RuntimeUnavailable` when the
 * engine does not answer in time, and `RuntimeFailure` for an engine error.
 */
export interface ContainerRuntime {
  /** Returns the container of this row and generation: a new one, or an earlier attempt's. */
  create(spec: ContainerSpec): Promise<RuntimeHandle>;
  /**
   * Starts it on its own volume, resized to its spec; fails if that is missing or a new container's data does not fit.
   * Resumes a paused one.
   */
  start(handle: RuntimeHandle): Promise<void>;
  /** SIGTERM, then SIGKILL after `graceSeconds`. Returns the state afterwards; `until` is `released` by default. */
  stop(handle: RuntimeHandle, graceSeconds: number, until?: StopUntil): Promise<'stopped' | 'gone'>;
  /** Sets the memory and processor limits of a running container. */
  resize(handle: RuntimeHandle, resources: Resources): Promise<void>;
  /** Removes the container, running or not; keeps its volume. */
  remove(handle: RuntimeHandle): Promise<void>;
  /**
   * Takes a container out of the warm pool for ever, and records that in the engine. Unlike a restored database, the
   * engine is never older than its containers. True for the first caller alone; false for one that is gone or no member.
   */
  claim(handle: RuntimeHandle): Promise<boolean>;
  /**
   * Kills all processes of a container with a hung process start, so that the engine can stop and remove it. Returns
   * whether it did. Never throws.
   */
  endHung(handle: RuntimeHandle): Promise<boolean>;
}

/** What runs where, without changing it. Throws like `ContainerRuntime`. */
export interface ContainerObserver {
  ping(): Promise<void>;
  observe(handle: RuntimeHandle): Promise<ObservedContainer>;
  /** The container of that row and generation, or null. Members of the warm pool may be left out. */
  find(dbId: string, generation: number): Promise<RuntimeHandle | null>;
  /** The container of that row, if it was made for the warm pool and nobody has ever claimed it. */
  findMember(dbId: string): Promise<RuntimeHandle | null>;
  /** All containers with this installation's label, in any state. */
  list(): Promise<readonly ListedContainer[]>;
  /**
   * Calls `hint` when something may have changed, and after a time without contact. Returns the unsubscribe function.
   */
  watch(hint: () => void): () => void;
}

/** The engine is down, hung, or unreachable. Its state is unknown. */
export class RuntimeUnavailable extends Error {
  override name = 'RuntimeUnavailable';
}

/**
 * Not done now, and may be tried again: the caller's turn did not come in time. `container_unresponsive`: an earlier
 * process start in this container has not ended, or its node does not answer. `agent_elsewhere`: another process of the service has the connection of this agent.
 * `agent_unresponsive`: its connection was lost before it began.
 */
export class RuntimeBusy extends RuntimeUnavailable {
  override name = 'RuntimeBusy';
  readonly code: 'engine_busy' | 'container_unresponsive' | 'agent_elsewhere' | 'agent_unresponsive';
  readonly retryAfterSeconds: number;
  constructor(code: RuntimeBusy['code'], retryAfterSeconds: number, options?: ErrorOptions) {
    super(`not done: ${code}`, options);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The refusal of a container whose node does not act. `cause`: for the log. */
export const nodeSilent = (cause: unknown): RuntimeBusy =>
  new RuntimeBusy('container_unresponsive', ENGINE_RETRY_SECONDS, { cause });

/**
 * The engine answers, but does not let the service do this. `right`: what it misses, in the engine's words, such as
 * `create pods/exec`, without the account that lacks it: users read it.
 */
export class RightMissing extends RuntimeUnavailable {
  override name = 'RightMissing';
  readonly right: string;
  constructor(right: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.right = right;
  }
}

/** Whether one container or its node does not respond, in contrast to the engine. */
export const isContainerUnresponsive = (error: unknown): error is RuntimeBusy =>
  error instanceof RuntimeBusy && error.code === 'container_unresponsive';

/** The connection broke after the engine had been asked to do it. Whether it was done, or still will be, is unknown. */
export class OutcomeUnknown extends RuntimeUnavailable {
  override name = 'OutcomeUnknown';
}

/** An engine error. The message is for the log, never for a client: it may name host paths. */
export class RuntimeFailure extends Error {
  override name = 'RuntimeFailure';
}

/** An agent, or this engine, does not have the operation. */
export class NotOffered extends RuntimeFailure {
  override name = 'NotOffered';
  readonly by: 'agent' | 'engine';
  constructor(by: NotOffered['by'], message: string) {
    super(message);
    this.by = by;
  }
}

export class ContainerNotRunning extends RuntimeFailure {
  override name = 'ContainerNotRunning';
  readonly isGone: boolean;
  constructor(message: string, isGone: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isGone = isGone;
  }
}

/** For work in a container that may just have stopped: null for `ContainerNotRunning`; throws all else. */
export function nullWhenStopped(error: unknown): null {
  if (error instanceof ContainerNotRunning) return null;
  throw error;
}

/** Its programs are frozen, as while a snapshot is taken: nothing can be started until they continue. */
export class ContainerPaused extends ContainerNotRunning {
  override name = 'ContainerPaused';
  constructor(message: string, options?: ErrorOptions) {
    super(message, false, options);
  }
}

/** The engine has no room, or no quota, for another container of this size now. */
export class EngineFull extends RuntimeFailure {
  override name = 'EngineFull';
}

/** Its node starts no containers until an administrator brings it back: it was drained or paused. */
export class NodeInMaintenance extends RuntimeFailure {
  override name = 'NodeInMaintenance';
}

/** The engine lacks the image and cannot pull it. */
export class ImageUnavailable extends RuntimeFailure {
  override name = 'ImageUnavailable';
}
