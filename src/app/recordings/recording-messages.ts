import type { RequestOrigin } from '../../domain/identity/caller.ts';
import type { Recording, RecordingNotice } from '../../domain/terminals/recording.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';

const TOPIC = 'recordings';

/** A request to record an open terminal, by its record's id. */
export type RecordingRequest = RequestOrigin & { readonly terminal: string; readonly containerName: string };

type RecordingListener = {
  notice?(notice: RecordingNotice): void;
  start?(request: RecordingRequest): void;
  stop?(id: string): void;
  removed?(id: string): void;
};

export type RecordingMessages = ReturnType<typeof recordingMessages>;

/** Messages between processes: recordings to start, end or remove. */
export function recordingMessages(bus: Bus, log: Logger) {
  const listeners = new Set<RecordingListener>();
  bus.subscribe(TOPIC, receive, () => {});

  function receive(message: BusMessage): void {
    const deliver = deliveryOf(message);
    if (deliver === null) log.warn({ kind: message['kind'] }, 'ignored a malformed message about recordings');
    else for (const listener of listeners) deliver(listener);
  }

  return {
    publishNotice({ id, userId, dbId, connectionId }: Recording, on: boolean, message: string): void {
      bus.publish(TOPIC, { kind: 'notice', id, userId, dbId, connectionId, on, message });
    },

    /** To the process with the terminal. */
    start: (request: RecordingRequest): void => bus.publish(TOPIC, { kind: 'start', ...request }),
    /** To the recording process. */
    stop: (id: string): void => bus.publish(TOPIC, { kind: 'stop', id }),
    /** To the process with the file. */
    removed: (id: string): void => bus.publish(TOPIC, { kind: 'removed', id }),

    subscribe: (listener: RecordingListener): void => void listeners.add(listener),
  };
}

/** Delivers the message; null when it is malformed or from another version of the service. */
function deliveryOf(message: BusMessage): ((listener: RecordingListener) => void) | null {
  const { kind, id } = message;
  if (kind === 'stop' && isText(id)) return (listener) => listener.stop?.(id);
  if (kind === 'removed' && isText(id)) return (listener) => listener.removed?.(id);
  if (kind === 'start') {
    const request = requestOf(message);
    return request && ((listener) => listener.start?.(request));
  }
  const notice = kind === 'notice' ? noticeOf(message) : null;
  return notice && ((listener) => listener.notice?.(notice));
}

function requestOf({ terminal, containerName, ipAddress, userAgent }: BusMessage): RecordingRequest | null {
  if (!isText(terminal) || !isText(containerName) || !isText(ipAddress) || !isText(userAgent)) return null;
  return { terminal, containerName, ipAddress, userAgent };
}

function noticeOf({ id, userId, dbId, connectionId, on, message }: BusMessage): RecordingNotice | null {
  if (!isText(id) || !isText(userId) || !isText(dbId) || !isText(connectionId)) return null;
  if (typeof on !== 'boolean' || !isText(message)) return null;
  return { id, userId, dbId, connectionId, on, message };
}

const isText = (value: unknown): value is string => typeof value === 'string';
