import { type Static, Type } from '@sinclair/typebox';
import { Closed, NamedObject, Nullable, OneOf, Timestamp } from '../common.ts';
import { nextCursor, pageQuery } from '../pagination.ts';

const ComponentName = OneOf(['service', 'database', 'engine', 'image', 'disk', 'isolation', 'replicas']);
/** Why a component is not ready. */
export const Reason = OneOf([
  'stopped',
  'not_running',
  'unreachable',
  'missing',
  'unusable',
  'starting',
  'waiting',
  'absent',
  'failed',
  'incomplete',
  'unenforced',
  'open',
  'untested',
  'filter_changed',
  'filter_refused',
  'silent',
  'unknown',
]);
const State = OneOf(['ready', 'testing', 'degraded', 'down']);

const found = {
  component: ComponentName,
  state: State,
  reason: Nullable(Reason),
  summary: Type.String({ description: 'For people, such as `Engine unreachable`.' }),
  detail: Nullable(Type.String()),
  advice: Nullable(Type.String({ description: 'What to do about it.' })),
};

export const HealthBody = NamedObject('Health', {
  components: Type.Array(NamedObject('ComponentHealth', { ...found, since: Nullable(Timestamp) })),
  replicas: Type.Array(
    NamedObject('ReplicaHealth', {
      replica: Type.String(),
      state: OneOf(['running', 'silent', 'stopped']),
      started_at: Timestamp,
      seen_at: Timestamp,
      components: Type.Array(Type.Object(found)),
    }),
  ),
});

export const OutageQuery = Closed({ ...pageQuery, component: Type.Optional(ComponentName) });

export const OutageBody = NamedObject('Outage', {
  id: Type.String(),
  component: ComponentName,
  state: OneOf(['degraded', 'down']),
  reason: Reason,
  summary: Type.String({ description: 'For people, such as `Engine unreachable`.' }),
  detail: Nullable(Type.String()),
  from: Timestamp,
  to: Nullable(Timestamp),
  seconds: Nullable(Type.Integer({ description: 'null while it lasts.' })),
});

export const OutagePage = NamedObject('OutagePage', {
  outages: Type.Array(OutageBody),
  next_cursor: nextCursor,
});

export type HealthBody = Static<typeof HealthBody>;
export type OutageBody = Static<typeof OutageBody>;
