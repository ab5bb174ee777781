import type { Origin } from '../../domain/identity/caller.ts';
import type { Recording, RecordingTold } from '../../domain/terminals/recording.ts';
import type { Bus } from '../../ports/bus.ts';

const TOPIC = 'recordings';

/** Who wants an open terminal to be recorded, by the id of its record. */
export type RecordingAsked = Origin & { readonly terminal: string; readonly containerName: string };

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
