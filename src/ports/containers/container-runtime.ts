import type { HostSpace, Quota } from '../../domain/containers/disk-quota.ts';
import type { LayerUse } from '../../domain/containers/layer-usage.ts';
import type { Resources } from '../../domain/containers/resources.ts';

/** Where a container really is. `node` names the engine that holds it, so that a cluster fits behind this port. */
export type RuntimeHandle = {
  readonly node: string;
  /** The engine's full id: 64 hex digits for Docker. */
  readonly runtimeId: string;
  /** Whose turn it is when the engine does something in it. */
  readonly ownerId?: string;
};

/** What the engine says now. `gone` is an answer of a healthy engine, never a guess about a silent one. */
export type ObservedContainer =
  | { readonly kind: 'running'; readonly startedAt: Date }
  /** Its programs stand still, and go on with the next start. Only somebody else at the engine does that. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'stopped'; readonly exitCode: number }
  | { readonly kind: 'gone' };

/** Everything needed to make the engine's container for a row. */
export type ContainerSpec = {
  readonly dbId: string;
  /** null while nobody owns it: a container of the warm pool. */
  readonly ownerId: string | null;
  /** Grows with every recreate; part of the deterministic engine name. */
  readonly generation: number;
  /** null for one that no operation makes. */
  readonly operationId: string | null;
  /** Image reference as in the catalogue. */
  readonly image: string;
  /** Volume for /workspace; made when absent, never removed here. */
  readonly volume: string;
  readonly hostname: string;
  readonly resources: Resources;
  readonly env: Readonly<Record<string, string>>;
};

/** What an image of a container is called and labelled after. */
export type CaptureSpec = Pick<ContainerSpec, 'dbId' | 'ownerId' | 'generation' | 'operationId'>;

/** An image that was made of a container of this installation. */
export type CapturedImage = {
  readonly imageId: string;
  /** null when another has taken its name. */
  readonly reference: string | null;
  readonly dbId: string;
};

/** A container that carries this installation's labels. */
export type ListedContainer = {
  readonly handle: RuntimeHandle;
  readonly dbId: string;
  readonly generation: number;
  readonly state: Exclude<ObservedContainer['kind'], 'gone'>;
};

/** How a volume keeps its size; that stays as it was made. */
export type VolumeFacts = {
  readonly quota: Quota;
  /** Its size follows `diskMb` of the container that is started on it. */
  readonly isResizable: boolean;
};

/** Through what a volume may be looked at, where nothing better is to be had. */
export type VolumeReader = { readonly image: string; readonly running: RuntimeHandle | null };

export type ExecRequest = {
  /** argv, never a shell string. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly stdin?: Buffer;
  readonly timeoutSeconds: number;
  /** stdout and stderr are each cut at this size. */
  readonly maxOutputBytes: number;
  readonly room?: OutputRoom;
};

/** How much of a command's output may be kept for an answer. */
export type OutputRoom = {
  /** stdout and stderr up to this size, in bytes, need no permission. */
  readonly freeBytes: number;
  /** Asked once, before more is kept. Until it resolves, the output is not read; at the time limit it is cut there. */
  more(): Promise<void>;
  /** Aborted when nobody will take the output any more; what is kept of it is dropped. */
  readonly unwanted: AbortSignal;
};

export type ExecResult = {
  /** null: ended by the time limit. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly truncated: boolean;
  readonly durationMs: number;
};

/**
 * Where containers run. Commands are idempotent: the wanted state already holding is success, as is the
 * removal of something absent. Nothing without this installation's label is ever touched.
 * Every method throws `RuntimeUnavailable` when the engine does not answer in time, and `RuntimeFailure`
 * when it answers with a fault.
 */
export interface ContainerRuntime {
  /** Of volumes that are made now. `hard`: writes above `diskMb` are refused. `soft`: the use is only measured. */
  readonly diskQuota: Quota;
  /** Returns the container of this row and generation: a new one, or the one that an earlier try left. */
  create(spec: ContainerSpec): Promise<RuntimeHandle>;
  /**
   * Never on anything but the volume that the container was made with, in the size of its spec: one that cannot be had,
   * or a new container's that does not fit into a smaller size, is a failure. One that is paused goes on where it was.
   */
  start(handle: RuntimeHandle): Promise<void>;
  /** Asks politely, then kills after `graceSeconds`. Answers what is there afterwards. */
  stop(handle: RuntimeHandle, graceSeconds: number): Promise<'stopped' | 'gone'>;
  /** Sets memory and processor limits while it runs. */
  resize(handle: RuntimeHandle, resources: Resources): Promise<void>;
  /** Removes the container, running or not; keeps its volume. */
  remove(handle: RuntimeHandle): Promise<void>;
  /** The container made for that row and generation, or null. */
  find(dbId: string, generation: number): Promise<RuntimeHandle | null>;
  /**
   * Ends everything in a container whose processes hang at their start, so that the engine can stop and remove it; leaves
   * all others alone. Answers whether it did. Never throws.
   */
  endHung(handle: RuntimeHandle): Promise<boolean>;
  /** Throws `RuntimeUnavailable` when the engine does not answer. */
  ping(): Promise<void>;
  observe(handle: RuntimeHandle): Promise<ObservedContainer>;
  /** Every container with this installation's label, in any state. */
  list(): Promise<readonly ListedContainer[]>;
  /** Calls `hint` when something may have changed, also after a time without contact. Answers what ends it. */
  watch(hint: () => void): () => void;
  volumeExists(volume: string): Promise<boolean>;
  /** null when there is no such volume. */
  volumeFacts(volume: string): Promise<VolumeFacts | null>;
  /** What a volume holds now; null when there is none, or when counting took too long. */
  usedBytes(volume: string, reader: VolumeReader): Promise<number | null>;
  /** What a container has outside its volume; null when it is gone, or when counting took too long. `image`: of the catalogue. */
  layerUse(handle: RuntimeHandle, image: string): Promise<LayerUse | null>;
  /** Removes a volume and all that is in it, for good. A failure while a container has it. */
  removeVolume(volume: string): Promise<void>;
  /** Of the file systems that new data goes to; none for an engine elsewhere, of which it is not known. */
  hostSpace(): Promise<readonly HostSpace[]>;
  /**
   * Makes an image of a container that is down, without its volume and without the values of its environment. Answers
   * its reference: the same when it is asked for again by the same operation.
   */
  capture(handle: RuntimeHandle, spec: CaptureSpec): Promise<string>;
  snapshotImages(): Promise<readonly CapturedImage[]>;
  /** Removes an image that `snapshotImages` named, unless something is made of it still. */
  removeCaptured(image: CapturedImage): Promise<void>;
  exec(handle: RuntimeHandle, request: ExecRequest): Promise<ExecResult>;
}

/** The engine did not answer: down, hung, or not reachable. What it holds is unknown. */
export class RuntimeUnavailable extends Error {
  override name = 'RuntimeUnavailable';
}

/**
 * It was not the caller's turn in time, and nothing was done. `container_unresponsive`: an earlier start of a process in
 * this container has not come to an end.
 */
export class RuntimeBusy extends RuntimeUnavailable {
  override name = 'RuntimeBusy';
  readonly code: 'engine_busy' | 'container_unresponsive';
  readonly retryAfterSeconds: number;
  constructor(code: RuntimeBusy['code'], retryAfterSeconds: number) {
    super(`not done: ${code}`);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The engine answered with a fault. The message is for the log, never for a client: it may name host paths. */
export class RuntimeFailure extends Error {
  override name = 'RuntimeFailure';
}

/** The container is gone, or it does not run. */
export class ContainerNotRunning extends RuntimeFailure {
  override name = 'ContainerNotRunning';
  readonly isGone: boolean;
  constructor(message: string, isGone: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isGone = isGone;
  }
}

/** The image is not there, and cannot be had from its registry either. */
export class ImageUnavailable extends RuntimeFailure {
  override name = 'ImageUnavailable';
}
