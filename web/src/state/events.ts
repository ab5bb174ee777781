import type { ContainerEvent, Event, Resync, ServiceEvent } from '../../../src/client/events/event.ts';
import { EventStream } from '../../../src/client/events/event-stream.ts';
import { platformSocket } from '../../../src/client/socket/socket.ts';
import { sentence } from '../api/errors.ts';
import { onNotices } from '../lib/browser/network-notices.ts';
import { noteAnswer, noteNoAnswer } from '../lib/browser/server-reachability.ts';
import { noteUnseen } from '../lib/browser/tab-icon.ts';
import { loginToken, userChanged } from '../session/session.ts';
import { type Polling, poll } from './poll.ts';
import { loadMe, me } from './profile.ts';
import { toastWarning } from './toasts.ts';

/** Polled all the same: not every change has an event. */
const LIVE_SETTLED_MS = 60_000;
/** Not every operation ends with an event. */
const LIVE_CHANGING_MS = 4_000;

/** A change of a container; null: anything may have changed. */
export type ChangedContainer = {
  readonly type: ContainerEvent['type'];
  readonly id: string;
  readonly dbId: string;
};
type ChangeEvent = ChangedContainer | null;

const changeOf = (event: Exclude<Event, ServiceEvent> | Resync): ChangeEvent =>
  event.type === 'resync' || event.type === 'account_updated'
    ? null
    : { type: event.type, id: String(event.data.id), dbId: event.data.db_id };

type ServiceChange = ServiceEvent['type'];

const ofService = new Map<ServiceChange, Set<() => void>>();

/** Calls `act` at each such change of the service, until the returned function is called. */
export function onServiceChange(type: ServiceChange, act: () => void): () => void {
  const acts = ofService.get(type) ?? new Set();
  ofService.set(type, acts.add(act));
  return () => void acts.delete(act);
}

const isOfService = (event: Event | Resync): event is ServiceEvent =>
  event.type === 'announcement_changed' || event.type === 'health_changed';

const isFailure = ({ type, data }: ContainerEvent): boolean =>
  data.status === 'failed' ||
  (type === 'container_progress' && (data.reason !== undefined || data.role_setup?.status === 'failed'));

/** Marks the tab's icon at a failure, and says what an administrator did: `an administrator stopped it`. */
function sayOf(event: ContainerEvent): void {
  if (isFailure(event)) noteUnseen('fault');
  const { by, name, reason } = event.data;
  if (by === 'administrator' && reason !== undefined)
    toastWarning(sentence(reason.replace(/\bit\b/, name)).replace(/\.$/, ''), 'It was not you.');
}

async function readAccount(): Promise<void> {
  try {
    await loadMe();
    if (me.value !== null) userChanged(me.value);
  } catch {
    // why: the next request that needs the rights says what is wrong
  }
}

const watchers = new Set<(event: ChangeEvent) => void>();
let isLive = false;

const publish = (event: ChangeEvent): void => {
  for (const watcher of watchers) watcher(event);
};

/** Keeps the events coming until the returned function is called. */
export function followEvents(): () => void {
  const stream = new EventStream(
    { origin: location.origin.replace(/^http/, 'ws'), openSocket: platformSocket, token: loginToken },
    {
      event: (event) => {
        if (isOfService(event)) {
          for (const act of ofService.get(event.type) ?? []) act();
          return;
        }
        // why: the rights of this page follow an administrator's change at once
        if (event.type === 'account_updated') void readAccount();
        if (event.type !== 'resync' && event.type !== 'account_updated') sayOf(event);
        publish(changeOf(event));
      },
      live: (now) => {
        isLive = now;
        // Shows what changed before, and starts the other interval.
        publish(null);
        // why: a session that has ended closes the stream first, and only a request learns it
        if (!now || me.peek() === null) loadMe().catch(() => {});
      },
      answers: (answers) => (answers === null ? noteNoAnswer() : noteAnswer(answers.askedAtMs)),
    },
  );
  stream.open();
  const stop = onNotices({ wake: () => stream.nudge(), offline: () => stream.doubt() });
  return () => {
    stop();
    stream.close();
    isLive = false;
  };
}

export type Watched = {
  readonly refresh: () => Promise<void>;
  /** Whether nothing on the page can change without an event. */
  readonly isSettled: () => boolean;
  /** How often to poll while no events come. */
  readonly settledMs: number;
  readonly changingMs: number;
  readonly concerns?: (event: ChangedContainer) => boolean;
  /** Called for each change; null: anything may have changed. */
  readonly noteChange?: (event: ChangeEvent) => void;
};

/** Polls soon after an event announces a change, and at an interval only while no events come. */
export function watch(watched: Watched): Polling {
  const { refresh, isSettled, settledMs, changingMs, concerns, noteChange } = watched;
  const everyMs = (): number => {
    if (isLive) return isSettled() ? LIVE_SETTLED_MS : LIVE_CHANGING_MS;
    return isSettled() ? settledMs : changingMs;
  };
  const polling = poll(refresh, everyMs);
  const onChange = (event: ChangeEvent): void => {
    noteChange?.(event);
    if (event === null || concerns?.(event) !== false) polling.soon();
  };
  watchers.add(onChange);
  return {
    ...polling,
    stop() {
      watchers.delete(onChange);
      polling.stop();
    },
  };
}
