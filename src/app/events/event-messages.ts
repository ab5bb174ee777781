import type { Bus } from '../../ports/bus.ts';

const TOPIC = 'events';

/** Call it after an event's commit. It only wakes the readers. */
export const publishEventsAdded = (bus: Bus): void => bus.publish(TOPIC, {});

/** `wake`: there may be unread events. */
export const subscribeToEventsAdded = (bus: Bus, wake: () => void): (() => void) =>
  bus.subscribe(TOPIC, wake, wake);
