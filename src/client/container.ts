import type { ContainerChange, Containers } from './groups/containers.ts';
import type { CallOptions, Schemas } from './request/api.ts';

/** One container, with its state as last read. */
export class Container implements AsyncDisposable {
  readonly #containers: Containers;
  readonly #deleteAtEnd: boolean;
  #info: Schemas['Container'];

  constructor(containers: Containers, info: Schemas['Container'], deleteAtEnd = false) {
    this.#containers = containers;
    this.#info = info;
    this.#deleteAtEnd = deleteAtEnd;
  }

  /** The database id, which never changes. */
  get id(): string {
    return this.#info.db_id;
  }

  get name(): string {
    return this.#info.name;
  }

  get info(): Schemas['Container'] {
    return this.#info;
  }

  /** Reads its state. */
  async refresh(options?: CallOptions): Promise<Schemas['Container']> {
    this.#info = await this.#containers.get(this.id, options);
    return this.#info;
  }

  async start(options?: CallOptions): Promise<void> {
    await this.#containers.start(this.id, options);
    await this.refresh(options);
  }

  async stop(options?: CallOptions): Promise<void> {
    await this.#containers.stop(this.id, options);
    await this.refresh(options);
  }

  /** Changes the name or limits; what is not given stays. New limits restart the container. */
  async update(change: ContainerChange, options?: CallOptions): Promise<void> {
    await this.#containers.update(this.id, change, options);
    await this.refresh(options);
  }

  /** It can be restored for some days. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#containers.delete(this.id, options);
  }

  stats(options?: CallOptions) {
    return this.#containers.stats(this.id, options);
  }

  /** What would be lost if it were recreated. */
  changes(options?: CallOptions) {
    return this.#containers.changes(this.id, options);
  }

  /** Deletes a container that was created with `deleteAtEnd`; leaves others as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#deleteAtEnd) await this.delete();
  }
}
