import type { Origin } from '../../domain/identity/caller.ts';
import type { CutReason, Recording } from '../../domain/terminals/recording.ts';
import { MAIN_CONNECTION } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';

const TOPIC = 'recordings';

/** What those who watch a terminal are told. */
export const WORDS: { readonly [W in CutReason | 'started' | 'ended']: string } = {
  started: 'This terminal is being recorded.',
  ended: 'The recording has ended.',
  quota: 'The recording has ended: recordings take up all the space that they may have.',
  too_fast: 'The recording has ended: the output came faster than it could be written.',
  failed: 'The recording has ended: its file could not be written.',
};

/** A recording began or ended. */
export type RecordingTold = Pick<Recording, 'id' | 'userId' | 'dbId' | 'connectionId'> & {
  readonly on: boolean;
  readonly message: string;
};

/** Who wants an open terminal to be recorded, by the id of its record. */
export type RecordingAsked = Origin & { readonly terminal: string; readonly containerName: string };

/** Whether a socket shows what is recorded: it is that terminal, or a guest's view of the owner's main one. */
export const watches = (
  entry: Pick<Recording, 'userId' | 'dbId' | 'connectionId'> & { readonly owner: boolean },
  of: Pick<RecordingTold, 'userId' | 'dbId' | 'connectionId'>,
): boolean =>
  entry.dbId === of.dbId &&
  (entry.userId === of.userId
    ? entry.connectionId === of.connectionId
    : of.connectionId === MAIN_CONNECTION && !entry.owner);

export type RecordingNews = ReturnType<typeof recordingNews>;

/** Between the processes: what is recorded, what is to end, and what is gone. */
export const recordingNews = (bus: Bus) => ({
  tell({ id, userId, dbId, connectionId }: Recording, on: boolean, message: string): void {
    bus.publish(TOPIC, { what: 'told', id, userId, dbId, connectionId, on, message });
  },

  /** Whichever process has the terminal records it. */
  start: (asked: RecordingAsked): void => bus.publish(TOPIC, { what: 'start', ...asked }),
  /** Whichever process makes it ends it. */
  stop: (id: string): void => bus.publish(TOPIC, { what: 'stop', id }),
  /** Whichever process has its file removes it. */
  removed: (id: string): void => bus.publish(TOPIC, { what: 'removed', id }),

  listen(hear: {
    told?(told: RecordingTold): void;
    start?(asked: RecordingAsked): void;
    stop?(id: string): void;
    removed?(id: string): void;
  }): () => void {
    return bus.subscribe(
      TOPIC,
      (message) => {
        const id = String(message['id']);
        if (message['what'] === 'stop') hear.stop?.(id);
        else if (message['what'] === 'removed') hear.removed?.(id);
        else if (message['what'] === 'start') hear.start?.(message as unknown as RecordingAsked);
        else hear.told?.(message as unknown as RecordingTold);
      },
      () => {},
    );
  },
});
