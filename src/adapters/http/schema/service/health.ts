import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Timestamp } from '../common.ts';
import { nextCursor, pageQuery } from '../pagination.ts';

const ComponentName = Type.Union([
  Type.Literal('service'),
  Type.Literal('database'),
  Type.Literal('engine'),
  Type.Literal('image'),
  Type.Literal('disk'),
  Type.Literal('isolation'),
  Type.Literal('replicas'),
]);
const Reason = Type.Union([
  Type.Literal('stopped'),
  Type.Literal('not_running'),
  Type.Literal('unreachable'),
  Type.Literal('missing'),
  Type.Literal('unusable'),
  Type.Literal('starting'),
  Type.Literal('waiting'),
  Type.Literal('absent'),
  Type.Literal('failed'),
  Type.Literal('incomplete'),
  Type.Literal('unenforced'),
  Type.Literal('open'),
  Type.Literal('untested'),
  Type.Literal('filter_changed'),
  Type.Literal('filter_refused'),
  Type.Literal('silent'),
  Type.Literal('unknown'),
]);
const State = Type.Union([Type.Literal('ready'), Type.Literal('degraded'), Type.Literal('down')]);

const found = {
  component: ComponentName,
  state: State,
  reason: Nullable(Reason),
  summary: Type.String({ description: 'For people, such as `Engine unreachable`.' }),
  detail: Nullable(Type.String()),
  advice: Nullable(Type.String({ description: 'What to do about it.' })),
};

export const HealthBody = Named(
  'Health',
  Type.Object({
    components: Type.Array(
      Named(
        'ComponentHealth',
        Type.Object({
          ...found,
          since: Nullable(Timestamp),
        }),
      ),
    ),
    replicas: Type.Array(
      Named(
        'ReplicaHealth',
        Type.Object({
          replica: Type.String(),
          state: Type.Union([Type.Literal('running'), Type.Literal('silent'), Type.Literal('stopped')]),
          started_at: Timestamp,
          seen_at: Timestamp,
          components: Type.Array(Type.Object(found)),
        }),
      ),
    ),
  }),
);

export const OutageQuery = Closed({ ...pageQuery, component: Type.Optional(ComponentName) });

export const OutageBody = Named(
  'Outage',
  Type.Object({
    id: Type.String(),
    component: ComponentName,
    state: Type.Union([Type.Literal('degraded'), Type.Literal('down')]),
    reason: Reason,
    summary: Type.String({ description: 'For people, such as `Engine unreachable`.' }),
    detail: Nullable(Type.String()),
    from: Timestamp,
    to: Nullable(Timestamp),
    seconds: Nullable(Type.Integer({ description: 'null while it lasts.' })),
  }),
);

export const OutagePage = Named(
  'OutagePage',
  Type.Object({ outages: Type.Array(OutageBody), next_cursor: nextCursor }),
);

export type HealthBody = Static<typeof HealthBody>;
export type OutageBody = Static<typeof OutageBody>;
