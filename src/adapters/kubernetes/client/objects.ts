import { type Static, type TSchema, Type } from '@sinclair/typebox';

/** The fields that Berth reads of the API's objects. All others are ignored. */
const Words = Type.Record(Type.String(), Type.String());

export const Metadata = Type.Object({
  name: Type.String(),
  uid: Type.String(),
  resourceVersion: Type.String(),
  labels: Type.Optional(Words),
  annotations: Type.Optional(Words),
  creationTimestamp: Type.Optional(Type.String()),
  /** It is being deleted. */
  deletionTimestamp: Type.Optional(Type.String()),
});

export const Bare = Type.Object({ metadata: Metadata });
export type Bare = Static<typeof Bare>;

const ContainerStatus = Type.Object({
  name: Type.String(),
  /** What the node gives it, from 1.33 on. */
  resources: Type.Optional(Type.Object({ limits: Type.Optional(Words) })),
  state: Type.Optional(
    Type.Object({
      waiting: Type.Optional(
        Type.Object({ reason: Type.Optional(Type.String()), message: Type.Optional(Type.String()) }),
      ),
      running: Type.Optional(Type.Object({ startedAt: Type.String() })),
      terminated: Type.Optional(
        Type.Object({
          exitCode: Type.Integer(),
          reason: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
});

const Condition = Type.Object({
  type: Type.String(),
  status: Type.String(),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

export const Pod = Type.Object({
  metadata: Metadata,
  spec: Type.Object({ nodeName: Type.Optional(Type.String()) }),
  status: Type.Optional(
    Type.Object({
      phase: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
      /** Of its node. */
      hostIP: Type.Optional(Type.String()),
      podIPs: Type.Optional(Type.Array(Type.Object({ ip: Type.String() }))),
      conditions: Type.Optional(Type.Array(Condition)),
      initContainerStatuses: Type.Optional(Type.Array(ContainerStatus)),
      containerStatuses: Type.Optional(Type.Array(ContainerStatus)),
    }),
  ),
});
export type Pod = Static<typeof Pod>;

export const Claim = Type.Object({
  metadata: Metadata,
  spec: Type.Object({
    storageClassName: Type.Optional(Type.String()),
    resources: Type.Object({ requests: Type.Object({ storage: Type.String() }) }),
  }),
  status: Type.Optional(
    Type.Object({
      phase: Type.Optional(Type.String()),
      capacity: Type.Optional(Type.Object({ storage: Type.Optional(Type.String()) })),
    }),
  ),
});
export type Claim = Static<typeof Claim>;

export const Secret = Type.Object({ metadata: Metadata, data: Type.Optional(Words) });
export type Secret = Static<typeof Secret>;

export const NetworkPolicy = Type.Object({ metadata: Metadata, spec: Type.Unknown() });

/** One page of a list. `continue` asks for the next. */
export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({
    metadata: Type.Object({
      resourceVersion: Type.Optional(Type.String()),
      continue: Type.Optional(Type.String()),
    }),
    // Older servers have null for none.
    items: Type.Union([Type.Array(item), Type.Null()]),
  });

/** A line of a watch. */
export const WatchLine = Type.Object({
  type: Type.String(),
  object: Type.Object({
    code: Type.Optional(Type.Integer()),
    metadata: Type.Optional(Type.Object({ resourceVersion: Type.Optional(Type.String()) })),
  }),
});

/** Any answer. */
export const Anything = Type.Unknown();
