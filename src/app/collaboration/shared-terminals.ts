import { batchByKey } from '../../concurrency/batch.ts';
import { coalesced } from '../../concurrency/coalesce.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { Participation } from '../../ports/terminals/participation-repository.ts';
import type { PresentPerson } from '../../ports/terminals/shared-container-repository.ts';

/** A notice for users of a shared terminal. `size`: null when all windows have their own size again. */
export type SharedTerminalNotice =
  | { readonly type: 'participants'; readonly present: readonly PresentPerson[] }
  | { readonly type: 'size'; readonly size: TerminalSize | null };

/** An open terminal of this process. The owner's main one decides the size of the shared terminal. */
export type Onlooker = {
  readonly dbId: string;
  readonly role: 'owner' | 'participant' | 'independent';
  size: TerminalSize;
  resize(size: TerminalSize): Promise<void>;
};

export type SharedTerminalsDeps = {
  readonly repositories: Pick<Repositories, 'participations' | 'sharedContainers'>;
  readonly bus: Bus;
  readonly log: Logger;
  /** The participations that this process's terminals depend on, with their containers; waiting ones included. */
  readonly participations: () => readonly (Participation & { readonly dbId: string })[];
  /** Closes the terminals that depend on one of these. */
  readonly shut: (over: readonly Participation[]) => void;
};

/** An open terminal, among those of its container. */
export type SharedSeat = {
  /** Future notices; the present state follows soon. */
  onNotice(listener: (notice: SharedTerminalNotice) => void): void;
  resize(size: TerminalSize): Promise<void>;
  /** Call it when the record is removed. */
  leave(): void;
};

type Listening = Onlooker & {
  onNotice: ((notice: SharedTerminalNotice) => void) | null;
  sentPresent: string;
  ownerSize: TerminalSize | null;
};

const TOPIC = 'collaboration';
const SIZE_AFTER_MS = 100;
const NOBODY = '[]';

/** Tells every process that the container's participants or open terminals have changed. Call it after the commit. */
export const publishShareChange = (bus: Bus, dbId: string): void =>
  bus.publish(TOPIC, { container_id: dbId });

/**
 * The shared terminals of this process. A message only names the container to check; a check every second covers lost
 * ones.
 */
export class SharedTerminals {
  readonly #deps: SharedTerminalsDeps;
  readonly #onlookers = new Map<string, Set<Listening>>();
  readonly #sharedNow = new Set<string>();
  readonly #rechecking = batchByKey(Number.POSITIVE_INFINITY, async (dbId) => {
    await this.#recheckNow(dbId);
    return [];
  });
  readonly #resizing = new Map<string, NodeJS.Timeout>();
  readonly #changes: ShareChanges;

  constructor(deps: SharedTerminalsDeps) {
    this.#deps = deps;
    this.#changes = new ShareChanges(deps);
    deps.bus.subscribe(
      TOPIC,
      ({ container_id: id }) => (typeof id === 'string' ? this.#recheck(id) : this.#recheckAll()),
      () => this.#recheckAll(),
    );
  }

  /** Adds an open terminal. Call it when its record is written. */
  enter(onlooker: Onlooker): SharedSeat {
    const { dbId } = onlooker;
    const entry: Listening = Object.assign(onlooker, {
      onNotice: null,
      sentPresent: NOBODY,
      ownerSize: null,
    });
    const here = this.#onlookers.get(dbId) ?? new Set();
    this.#onlookers.set(dbId, here.add(entry));
    return {
      onNotice: (listener) => {
        entry.onNotice = listener;
        this.#changes.add(dbId);
      },
      resize: async (size) => {
        entry.size = size;
        this.#noteSizeOf(entry);
        if (entry.ownerSize === null) await entry.resize(size);
      },
      leave: () => {
        here.delete(entry);
        if (here.size === 0) this.#onlookers.delete(dbId);
        this.#noteSizeOf(entry);
        this.#changes.add(dbId);
      },
    };
  }

  /** Closes terminals whose participation has ended, whichever message was lost; for a timer. */
  recheckParticipants(): Promise<void> {
    return this.#shutOver(this.#deps.participations());
  }

  #recheckAll(): void {
    const ids = [...this.#onlookers.keys(), ...this.#deps.participations().map((one) => one.dbId)];
    for (const id of new Set(ids)) this.#recheck(id);
  }

  #recheck(dbId: string): void {
    const { participations, log } = this.#deps;
    if (!this.#onlookers.has(dbId) && !participations().some((one) => one.dbId === dbId)) return;
    this.#rechecking(dbId, null).catch((err: unknown) =>
      log.warn({ err }, 'could not load the participants of a shared terminal'),
    );
  }

  async #recheckNow(dbId: string): Promise<void> {
    const { participations, repositories } = this.#deps;
    await this.#shutOver(participations().filter((one) => one.dbId === dbId));
    const here = this.#onlookers.get(dbId);
    if (here === undefined) return;
    const scene = await repositories.sharedContainers.scene(dbId);
    if (scene === null) this.#sharedNow.delete(dbId);
    else this.#sharedNow.add(dbId);
    if (scene !== null && scene.size === null && ownerAmong(here) !== undefined) this.#noteSize(dbId);
    for (const one of here) {
      sendPresent(one, scene?.present ?? []);
      if (one.role === 'participant') sendSize(one, scene?.size ?? null);
    }
  }

  async #shutOver(active: readonly Participation[]): Promise<void> {
    const { repositories, shut } = this.#deps;
    if (active.length === 0) return;
    const still = await repositories.participations.stillActive(active);
    const over = active.filter((participation) => !still.some((one) => isSame(one, participation)));
    if (over.length > 0) shut(over);
  }

  #noteSizeOf({ role, dbId }: Listening): void {
    if (role === 'owner' && this.#sharedNow.has(dbId)) this.#noteSize(dbId);
  }

  /** Writes the owner's window size once it has not changed for a moment; null when the owner has left. */
  #noteSize(dbId: string): void {
    const { repositories, bus, log } = this.#deps;
    if (this.#resizing.has(dbId)) return;
    const timer = setTimeout(() => {
      this.#resizing.delete(dbId);
      const owner = ownerAmong(this.#onlookers.get(dbId) ?? []);
      repositories.sharedContainers.noteSize(dbId, owner?.size ?? null).then(
        () => publishShareChange(bus, dbId),
        (err: unknown) => log.warn({ err }, 'could not publish the size of a shared terminal'),
      );
    }, SIZE_AFTER_MS);
    this.#resizing.set(dbId, timer.unref());
  }
}

/**
 * Publishes the containers whose terminals have opened or closed. An unshared container costs one query, however many
 * open at once.
 */
class ShareChanges {
  readonly #deps: Pick<SharedTerminalsDeps, 'repositories' | 'bus' | 'log'>;
  readonly #due = new Set<string>();
  readonly #publishing = coalesced(() => this.#publishDue());

  constructor(deps: Pick<SharedTerminalsDeps, 'repositories' | 'bus' | 'log'>) {
    this.#deps = deps;
  }

  add(dbId: string): void {
    this.#due.add(dbId);
    void this.#publishing();
  }

  async #publishDue(): Promise<void> {
    const { repositories, bus, log } = this.#deps;
    for (const dbId of this.#due) {
      this.#due.delete(dbId);
      try {
        if (await repositories.sharedContainers.isShared(dbId)) publishShareChange(bus, dbId);
      } catch (err) {
        log.warn({ err }, 'could not publish the participants of a shared terminal');
      }
    }
  }
}

const ownerAmong = (here: Iterable<Listening>): Listening | undefined =>
  [...here].find(({ role }) => role === 'owner');

const isSame = (one: Participation, other: Participation): boolean =>
  one.collaborationId === other.collaborationId && one.userId === other.userId;

function sendPresent(one: Listening, present: readonly PresentPerson[]): void {
  const text = JSON.stringify(present);
  if (one.onNotice === null || text === one.sentPresent) return;
  one.sentPresent = text;
  one.onNotice({ type: 'participants', present });
}

function sendSize(one: Listening, size: TerminalSize | null): void {
  if (one.onNotice === null || (one.ownerSize?.cols === size?.cols && one.ownerSize?.rows === size?.rows))
    return;
  one.ownerSize = size;
  void one.resize(size ?? one.size);
  one.onNotice({ type: 'size', size });
}
