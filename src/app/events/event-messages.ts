import type { Bus } from '../../ports/bus.ts';

const TOPIC = 'events';

/** Call it after the commit of an event. It only wakes those who read them. */
export const publishEventsAdded = (bus: Bus): void => bus.publish(TOPIC, {});

/** There may be events that were not read yet. */
export const subscribeToEventsAdded = (bus: Bus, wake: () => void): (() => void) =>
  bus.subscribe(TOPIC, wake, wake);
