import type { ConnectionLog } from '../kept-connection.ts';
import { type ClosableBus, messageBus } from '../message-bus.ts';
import { openListener } from './notification-listener.ts';

/** LISTEN and NOTIFY on a dedicated connection, which must not pass a pooler that shares connections. */
export const postgresBus = (url: string, log: ConnectionLog): ClosableBus =>
  messageBus({
    open: (events) => openListener(url, events),
    // Behind a pooler that shares connections LISTEN succeeds.
    whenDeaf: 'no messages arrive: connect to the database directly, not through a pooler',
    log,
  });
