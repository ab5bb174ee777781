import type { ContainerEvent } from '../domain/events.ts';

/** Events are rows, written in the transaction of the change that they tell of. */
export interface EventLog {
  append(event: ContainerEvent): Promise<void>;
}
