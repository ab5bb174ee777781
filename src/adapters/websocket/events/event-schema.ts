import { type TSchema, Type } from '@sinclair/typebox';
import { ACCOUNT_CHANGES, type EventType } from '../../../domain/events.ts';
import { SEVERITIES } from '../../../domain/service/announcement.ts';
import { COMPONENTS } from '../../../domain/service/health-words.ts';

const container = {
  id: Type.Union([Type.String(), Type.Null()]),
  db_id: Type.String(),
  name: Type.String(),
  status: Type.String(),
};
const Plain = Type.Object(container);
/** Present when an administrator requested it, not the owner. */
const by = Type.Optional(Type.Literal('administrator'));
/** `reason`: why it happened, for people; absent when the owner requested it. */
const Explained = Type.Object({ ...container, reason: Type.Optional(Type.String()), by });

/** The container that it was taken of, and the snapshot. */
const OfSnapshot = Type.Object({
  ...container,
  snapshot: Type.Object({ id: Type.String(), name: Type.String(), status: Type.String() }),
});

const DATA: { readonly [T in EventType]: TSchema } = {
  container_created: Explained,
  container_started: Plain,
  container_stopped: Explained,
  container_updated: Type.Object({
    ...container,
    resources: Type.Object({
      memory_mb: Type.Integer(),
      cpu_shares: Type.Integer(),
      disk_mb: Type.Integer(),
    }),
    restarted: Type.Boolean(),
  }),
  container_deleted: Explained,
  container_purged: Plain,
  container_transferred: Type.Object({
    ...container,
    owner: Type.Object({ id: Type.String(), username: Type.String() }),
    reason: Type.Optional(Type.String()),
    by,
  }),
  account_updated: Type.Object({
    id: Type.String(),
    name: Type.String(),
    status: Type.Literal('enabled'),
    role: Type.Union([Type.Literal('user'), Type.Literal('admin')]),
    tier: Type.String(),
    change: Type.Union(ACCOUNT_CHANGES.map((change) => Type.Literal(change))),
  }),
  announcement_changed: Type.Object({
    id: Type.String(),
    name: Type.Optional(Type.String({ description: 'The text; absent unless it is shown now.' })),
    status: Type.Union([Type.Literal('created'), Type.Literal('updated'), Type.Literal('deleted')]),
    severity: Type.Optional(Type.Union(SEVERITIES.map((severity) => Type.Literal(severity)))),
  }),
  health_changed: Type.Object({
    id: Type.String(),
    name: Type.Union(COMPONENTS.map((component) => Type.Literal(component))),
    status: Type.Union([Type.Literal('ready'), Type.Literal('degraded'), Type.Literal('down')]),
    reason: Type.String(),
    from: Type.String({ format: 'date-time' }),
    to: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  }),
  snapshot_created: OfSnapshot,
  snapshot_deleted: OfSnapshot,
  snapshot_restored: OfSnapshot,
  agent_connected: Plain,
  agent_disconnected: Plain,
  container_progress: Type.Object({
    ...container,
    role_setup: Type.Object({
      status: Type.String(),
      detail: Type.Union([Type.String(), Type.Null()]),
    }),
    reason: Type.Optional(Type.String()),
  }),
  container_ending: Type.Object({
    ...container,
    ends_at: Type.String({ format: 'date-time' }),
    action: Type.Union([Type.Literal('stop'), Type.Literal('delete')]),
    reason: Type.String(),
  }),
};

const event = ([type, data]: [string, TSchema]) => [
  type,
  Type.Object({
    type: Type.Literal(type),
    data,
    id: Type.String(),
    time: Type.String({ format: 'date-time' }),
  }),
];

export const Ping = Type.Object({ type: Type.Literal('ping'), t: Type.Number() });

/** What the event socket sends, by type. */
export const EVENT_MESSAGES: { readonly [type: string]: TSchema } = {
  ...Object.fromEntries(Object.entries(DATA).map(event)),
  resync: Type.Object({ type: Type.Literal('resync') }),
  pong: Type.Object({ type: Type.Literal('pong'), t: Type.Number() }),
  restarting: Type.Object({ type: Type.Literal('restarting'), retry_ms: Type.Integer() }),
};
