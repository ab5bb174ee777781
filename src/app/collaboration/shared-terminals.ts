import type { TerminalSize } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type {
  CollaborationRepository,
  Part,
  PresentPerson,
} from '../../ports/terminals/collaboration-repository.ts';

/** What somebody at a shared terminal is told. `size`: null when everybody has their own again. */
export type SharedTerminalNotice =
  | { readonly type: 'participants'; readonly present: readonly PresentPerson[] }
  | { readonly type: 'size'; readonly size: TerminalSize | null };

/** An open terminal of this process. The owner's main one rules the size of what is shared; participants follow. */
export type Onlooker = {
  readonly dbId: string;
  readonly role: 'owner' | 'participant' | 'independent';
  size: TerminalSize;
  /** Makes the terminal so large. */
  resize(size: TerminalSize): Promise<void>;
};

export type SharedTerminalsDeps = {
  readonly collaborations: CollaborationRepository;
  readonly bus: Bus;
  readonly log: Logger;
  /** The parts that terminals of this process rest on, with the container of each; also of those that wait. */
  readonly parts: () => readonly (Part & { readonly dbId: string })[];
  /** Closes the terminals that rest on one of these. */
  readonly shut: (over: readonly Part[]) => void;
};

type Listening = Onlooker & {
  onNotice: ((notice: SharedTerminalNotice) => void) | null;
  sentPresent: string;
  ownerSize: TerminalSize | null;
};

const TOPIC = 'collaboration';
const SIZE_AFTER_MS = 100;
const NOBODY = '[]';

/** To every process: who takes part in what of this container, or is there, has changed. Call it after the commit. */
export const publishShareChange = (bus: Bus, dbId: string): void =>
  bus.publish(TOPIC, { container_id: dbId });

export type SharedTerminals = ReturnType<typeof sharedTerminals>;

/**
 * The shared terminals of this process. A message only says which container to look at again; what is lost is caught up
 * with by the look of every second.
 */
export function sharedTerminals({ collaborations, bus, log, parts, shut }: SharedTerminalsDeps) {
  const onlookers = new Map<string, Set<Listening>>();
  const sharedNow = new Set<string>();
  const rechecking = new Map<string, { again: boolean }>();
  const resizing = new Map<string, NodeJS.Timeout>();
  const due = new Set<string>();
  let isPublishing = false;

  const recheck = (dbId: string): void => {
    const under = rechecking.get(dbId);
    if (under !== undefined) {
      under.again = true;
      return;
    }
    if (!onlookers.has(dbId) && !parts().some((one) => one.dbId === dbId)) return;
    rechecking.set(dbId, { again: false });
    void recheckNow(dbId)
      .catch((err: unknown) => log.warn({ err }, 'could not load the participants of a shared terminal'))
      .finally(() => {
        const again = rechecking.get(dbId)?.again;
        rechecking.delete(dbId);
        if (again) recheck(dbId);
      });
  };

  async function recheckNow(dbId: string): Promise<void> {
    await shutOver(parts().filter((one) => one.dbId === dbId));
    const here = onlookers.get(dbId);
    if (here === undefined) return;
    const scene = await collaborations.scene(dbId);
    if (scene === null) sharedNow.delete(dbId);
    else sharedNow.add(dbId);
    const owner = [...here].find(({ role }) => role === 'owner');
    if (scene !== null && scene.size === null && owner !== undefined) noteSize(dbId);
    for (const one of here) {
      sendPresent(one, scene?.present ?? []);
      if (one.role === 'participant') sendSize(one, scene?.size ?? null);
    }
  }

  async function shutOver(taken: readonly Part[]): Promise<void> {
    if (taken.length === 0) return;
    const still = await collaborations.stillTaken(taken);
    const over = taken.filter((part) => !still.some((one) => isSame(one, part)));
    if (over.length > 0) shut(over);
  }

  /** The window of the owner as it is when it has rested for a moment; null when the owner has gone. */
  function noteSize(dbId: string): void {
    if (resizing.has(dbId)) return;
    const timer = setTimeout(() => {
      resizing.delete(dbId);
      const owner = [...(onlookers.get(dbId) ?? [])].find(({ role }) => role === 'owner');
      collaborations.noteSize(dbId, owner?.size ?? null).then(
        () => publishShareChange(bus, dbId),
        (err: unknown) => log.warn({ err }, 'could not publish the size of a shared terminal'),
      );
    }, SIZE_AFTER_MS);
    resizing.set(dbId, timer.unref());
  }

  bus.subscribe(
    TOPIC,
    ({ container_id: id }) => (typeof id === 'string' ? recheck(id) : recheckAll()),
    () => recheckAll(),
  );

  function recheckAll(): void {
    for (const id of new Set([...onlookers.keys(), ...parts().map((one) => one.dbId)])) recheck(id);
  }

  /** Somebody has come or gone. Containers that nobody shares cost one look at the database, however many come at once. */
  function changed(dbId: string): void {
    due.add(dbId);
    if (!isPublishing) void publishDue();
  }

  async function publishDue(): Promise<void> {
    isPublishing = true;
    for (const dbId of due) {
      due.delete(dbId);
      try {
        if (await collaborations.isShared(dbId)) publishShareChange(bus, dbId);
      } catch (err) {
        log.warn({ err }, 'could not publish the participants of a shared terminal');
      }
    }
    isPublishing = false;
  }

  return {
    /** A terminal that has opened, once its record is written. */
    enter(onlooker: Onlooker) {
      const { dbId } = onlooker;
      const entry: Listening = Object.assign(onlooker, {
        onNotice: null,
        sentPresent: NOBODY,
        ownerSize: null,
      });
      const here = onlookers.get(dbId) ?? new Set();
      onlookers.set(dbId, here.add(entry));
      return {
        /** From now on; what is so already is told soon. */
        onNotice(listener: (notice: SharedTerminalNotice) => void): void {
          entry.onNotice = listener;
          changed(dbId);
        },

        async resize(size: TerminalSize): Promise<void> {
          entry.size = size;
          if (entry.role === 'owner' && sharedNow.has(dbId)) noteSize(dbId);
          if (entry.ownerSize === null) await entry.resize(size);
        },

        /** Once the record is removed. */
        leave(): void {
          here.delete(entry);
          if (here.size === 0) onlookers.delete(dbId);
          if (entry.role === 'owner' && sharedNow.has(dbId)) noteSize(dbId);
          changed(dbId);
        },
      };
    },

    /** Closes what rests on a part that nobody has any more, whatever was not told of it; for a timer. */
    recheckParticipants: (): Promise<void> => shutOver(parts()),
  };
}

const isSame = (one: Part, other: Part): boolean =>
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
