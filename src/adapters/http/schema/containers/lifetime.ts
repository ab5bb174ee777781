import { type Static, Type } from '@sinclair/typebox';
import { FewNamed, NamedClosed, NamedObject, Nullable, OneOf, Text, Timestamp } from '../common.ts';

/** As in src/domain/containers/lifetime/. */
const TTL_SECONDS = { min: 60, max: 2_592_000 };
const IDLE_SECONDS = { min: 60, max: 604_800 };
const MAX_LABELS = 32;

const EndAction = OneOf(['stop', 'delete']);

const seconds = ({ min, max }: { min: number; max: number }, description: string) =>
  Type.Integer({ minimum: min, maximum: max, description });

const TTL = 'The hard end, in seconds from now.';
const IDLE = 'The end after so many seconds without use.';

/** Fields of a create. */
export const lifetimeFields = {
  ephemeral: Type.Optional(
    Type.Boolean({
      description: 'Deleted at its end. Needs no name. Without an end, it ends after 30 minutes without use.',
    }),
  ),
  ttl_seconds: Type.Optional(seconds(TTL_SECONDS, TTL)),
  idle_seconds: Type.Optional(seconds(IDLE_SECONDS, IDLE)),
  on_idle: Type.Optional(EndAction),
  labels: Type.Optional(FewNamed(Type.String(), MAX_LABELS)),
};

/** `null` removes an end. */
export const LifetimeRequestBody = NamedClosed('LifetimeRequest', {
  ttl_seconds: Type.Optional(Nullable(seconds(TTL_SECONDS, `${TTL} null: none.`))),
  idle_seconds: Type.Optional(Nullable(seconds(IDLE_SECONDS, `${IDLE} null: none.`))),
  on_idle: Type.Optional(EndAction),
  keep_seconds: Type.Optional(seconds(TTL_SECONDS, 'Nothing ends it before so many seconds from now.')),
});

const lifetime = {
  ephemeral: Type.Boolean({ description: 'Deleted at its end.' }),
  ends_at: Nullable(Timestamp),
  idle_seconds: Nullable(Type.Integer()),
  on_idle: EndAction,
  kept_until: Nullable(Timestamp),
  idle_ends_at: Nullable(
    Type.String({ format: 'date-time', description: 'Moves with each use. null: not by idleness.' }),
  ),
  next_end: Nullable(
    Type.Object(
      {
        at: Timestamp,
        action: EndAction,
        because: OneOf(['time', 'idle']),
      },
      { description: 'What ends it next; null: nothing.' },
    ),
  ),
};

/** In lists. */
export const LifetimeSummary = NamedObject('Lifetime', lifetime);

export const LifetimeBody = NamedObject('ExplainedLifetime', {
  ...lifetime,
  activity: Type.Array(
    Type.Object({
      kind: Type.String({
        description: 'terminal, input, output, command, file, process, ssh, port, processor',
      }),
      last_at: Timestamp,
    }),
    { description: 'The last use of each kind, the newest first. Recorded while there is an idle time.' },
  ),
  would_stop: Type.String({ description: 'When and why it ends, in words.' }),
});

export type LifetimeSummary = Static<typeof LifetimeSummary>;
export type LifetimeBody = Static<typeof LifetimeBody>;
export type LifetimeRequestBody = Static<typeof LifetimeRequestBody>;

const LabelText = Text({ maxLength: 320 });

/** `label=key:value`, once or more. */
export const labelQuery = Type.Optional(
  Type.Union([LabelText, Type.Array(LabelText, { maxItems: MAX_LABELS })], {
    description: '`key:value`: those with this label. Given more than once, all must match.',
  }),
);
