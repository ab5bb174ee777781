import { randomUUID } from 'node:crypto';
import { changed, exists, expired, notFound, otherUid, type Refusal } from './refusals.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of the API have any shape
export type Loose = any;
export type Stored = {
  metadata: { name: string; uid: string; resourceVersion: string; [field: string]: Loose };
  [field: string]: Loose;
};

export type Change = {
  readonly resource: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly position: number;
  readonly object: Stored;
};

export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** The API's objects by resource and name, with one counter of versions, and what has changed since some version. */
export class Store {
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #watchers = new Set<(change: Change) => void>();
  #changes: Change[] = [];
  #position = 100;
  #oldest = 100;

  get position(): number {
    return this.#position;
  }

  all(resource: string): readonly Stored[] {
    return [...(this.#objects.get(resource)?.values() ?? [])];
  }

  find(resource: string, name: string): Stored | null {
    return this.#objects.get(resource)?.get(name) ?? null;
  }

  get(resource: string, name: string): Stored {
    const found = this.find(resource, name);
    if (found === null) throw new Refused(notFound(resource, name));
    return found;
  }

  create(resource: string, given: Loose): Stored {
    const { name } = given.metadata;
    if (this.find(resource, name) !== null) throw new Refused(exists(resource, name));
    const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '');
    const metadata = { ...given.metadata, uid: randomUUID(), creationTimestamp };
    return this.#put(resource, 'ADDED', { ...given, metadata });
  }

  /** Replaces an object; with a version, only that one. */
  update(resource: string, name: string, change: (object: Stored) => Loose, version?: string): Stored {
    const present = this.get(resource, name);
    if (version !== undefined && version !== present.metadata.resourceVersion)
      throw new Refused(changed(resource, name));
    return this.#put(resource, 'MODIFIED', change(structuredClone(present)));
  }

  /** With a uid, only that one. */
  requireUid(resource: string, name: string, uid: string | undefined): Stored {
    const present = this.get(resource, name);
    if (uid !== undefined && uid !== present.metadata.uid)
      throw new Refused(otherUid(resource, name, uid, present.metadata.uid));
    return present;
  }

  remove(resource: string, name: string): void {
    const object = this.find(resource, name);
    if (object === null) return;
    this.#objects.get(resource)?.delete(name);
    this.#tell(resource, 'DELETED', structuredClone(object));
  }

  /** Changes after a position, then those to come. Throws when it is forgotten. Returns the unsubscribe function. */
  watch(position: number, listener: (change: Change) => void): () => void {
    if (position < this.#oldest) throw new Refused(expired(position, this.#oldest));
    for (const change of this.#changes) if (change.position > position) listener(change);
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Forgets all changes, as an API server does after some minutes. */
  compact(): void {
    this.#position += 1;
    this.#oldest = this.#position;
    this.#changes = [];
  }

  #put(resource: string, type: Change['type'], object: Stored): Stored {
    const ofResource = this.#objects.get(resource) ?? new Map<string, Stored>();
    this.#objects.set(resource, ofResource.set(object.metadata.name, object));
    this.#tell(resource, type, object);
    return object;
  }

  #tell(resource: string, type: Change['type'], object: Stored): void {
    this.#position += 1;
    object.metadata.resourceVersion = String(this.#position);
    const change = { resource, type, position: this.#position, object: structuredClone(object) };
    this.#changes.push(change);
    for (const listener of this.#watchers) listener(change);
  }
}
