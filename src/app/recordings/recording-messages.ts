import type { Origin } from '../../domain/identity/caller.ts';
import type { Recording, RecordingNotice } from '../../domain/terminals/recording.ts';
import type { Bus } from '../../ports/bus.ts';

const TOPIC = 'recordings';

/** Who wants an open terminal to be recorded, by the id of its record. */
export type RecordingRequest = Origin & { readonly terminal: string; readonly containerName: string };

export type RecordingMessages = ReturnType<typeof recordingMessages>;

/** Between the processes: what is recorded, what is to end, and what is gone. */
export const recordingMessages = (bus: Bus) => ({
  publishNotice({ id, userId, dbId, connectionId }: Recording, on: boolean, message: string): void {
    bus.publish(TOPIC, { what: 'told', id, userId, dbId, connectionId, on, message });
  },

  /** Whichever process has the terminal records it. */
  start: (request: RecordingRequest): void => bus.publish(TOPIC, { what: 'start', ...request }),
  /** Whichever process makes it ends it. */
  stop: (id: string): void => bus.publish(TOPIC, { what: 'stop', id }),
  /** Whichever process has its file removes it. */
  removed: (id: string): void => bus.publish(TOPIC, { what: 'removed', id }),

  subscribe(listener: {
    notice?(notice: RecordingNotice): void;
    start?(request: RecordingRequest): void;
    stop?(id: string): void;
    removed?(id: string): void;
  }): () => void {
    return bus.subscribe(
      TOPIC,
      (message) => {
        const id = String(message['id']);
        if (message['what'] === 'stop') listener.stop?.(id);
        else if (message['what'] === 'removed') listener.removed?.(id);
        else if (message['what'] === 'start') listener.start?.(message as unknown as RecordingRequest);
        else listener.notice?.(message as unknown as RecordingNotice);
      },
      () => {},
    );
  },
});
