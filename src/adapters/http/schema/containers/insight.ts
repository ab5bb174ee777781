import { type Static, Type } from '@sinclair/typebox';
import { Closed, DbIds, Flag, NamedObject, Nullable, Timestamp } from '../common.ts';

export const LogsQuery = Closed({
  tail: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,9}$', description: 'Lines from the end; all when absent.' }),
  ),
  follow: Flag(),
});

export const PortsBody = NamedObject('Ports', {
  ports: Type.Array(
    Type.Object({
      port: Type.Integer(),
      address: Type.String({ description: '`all addresses`, one of the loopback, or `one address`.' }),
    }),
  ),
});

export const StatsBody = NamedObject('Stats', {
  time: Timestamp,
  cpu: Type.Object({ used_millicores: Type.Integer(), limit_millicores: Type.Integer() }),
  memory: Type.Object({ used_bytes: Type.Integer(), limit_bytes: Type.Integer() }),
  disk: Type.Object({
    used_bytes: Nullable(Type.Integer({ description: 'null: the measurement took too long. Ask again.' })),
    limit_bytes: Type.Integer(),
  }),
  layer: Type.Object(
    { used_bytes: Nullable(Type.Integer()), limit_bytes: Type.Integer() },
    { description: 'Outside /workspace, as of the last minute. null: not measured yet.' },
  ),
  pids: Type.Object({
    used: Type.Integer(),
    limit: Nullable(Type.Integer({ description: 'null: the engine sets no limit of its own.' })),
  }),
});

const HOUR = { minItems: 60, maxItems: 60 } as const;
const minutes = (description: string) => Type.Array(Nullable(Type.Integer()), { ...HOUR, description });

export const FiguresQuery = Closed({ ids: DbIds });

export const FiguresList = NamedObject('ContainerFiguresList', {
  figures: Type.Array(
    NamedObject('ContainerFigures', {
      db_id: Type.String(),
      time: Nullable(Type.String({ format: 'date-time', description: 'null before the first measurement.' })),
      cpu_millicores: Nullable(Type.Integer()),
      memory_bytes: Nullable(Type.Integer()),
      killed_at: Nullable(
        Type.String({
          format: 'date-time',
          description: 'When a program was last seen to be ended by the memory limit.',
        }),
      ),
      hour: Type.Object(
        {
          cpu_millicores: minutes('Means.'),
          memory_bytes: minutes('Peaks.'),
        },
        { description: 'Minute by minute, oldest first. null: not measured.' },
      ),
    }),
  ),
});

const Count = Type.Integer();

export const ChangesBody = NamedObject('Changes', {
  packages: Type.Array(
    Type.Object({
      manager: Type.String(),
      name: Type.String(),
      version: Nullable(Type.String()),
      change: Type.String(),
      automatic: Type.Boolean({ description: 'Installed as a dependency.' }),
    }),
  ),
  package_count: Count,
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      added: Count,
      changed: Count,
      removed: Count,
      size_bytes: Nullable(Type.Integer({ description: 'null: cannot be measured in a stopped container.' })),
      disposable: Type.Boolean({ description: 'A cache, a log or the database of a package manager.' }),
    }),
  ),
  layer_bytes: Nullable(Type.Integer({ description: 'Everything that is not on the volume.' })),
  complete: Type.Boolean(),
});

export type ChangesBody = Static<typeof ChangesBody>;
export type FiguresList = Static<typeof FiguresList>;
export type StatsBody = Static<typeof StatsBody>;
