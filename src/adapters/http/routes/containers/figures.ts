import type { Static } from '@sinclair/typebox';
import type { FiguresOf, readFigures } from '../../../../app/containers/figures/read-figures.ts';
import { hourOf, type Minute } from '../../../../domain/containers/figures/figures.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { operation } from '../../open-api/route-schema.ts';
import { FiguresList, FiguresQuery } from '../../schema/containers/insight.ts';
import type { Routes } from '../../server.ts';

export const figureRoutes =
  (read: ReturnType<typeof readFigures>, clock: Clock): Routes =>
  (http) => {
    http.get(
      '/api/figures',
      operation('containers.figures', 'Read what running containers use, and have used in the last hour', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read figures' },
        querystring: FiguresQuery,
        response: { 200: FiguresList },
      }),
      async ({ query, caller }) => {
        const found = await read(new Set(query.ids.split(',')), caller);
        return { figures: found.map((one) => toFiguresBody(one, clock.now())) };
      },
    );
  };

const EMPTY: readonly (Minute | null)[] = Array.from({ length: 60 }, () => null);

function toFiguresBody(
  { container, figures }: FiguresOf,
  now: Date,
): Static<typeof FiguresList>['figures'][number] {
  const hour = figures === null ? EMPTY : hourOf(figures, now);
  return {
    db_id: container.dbId,
    time: figures?.at.toISOString() ?? null,
    cpu_millicores: figures?.cpuMillicores ?? null,
    memory_bytes: figures?.memoryBytes ?? null,
    killed_at: figures?.killedAt?.toISOString() ?? null,
    hour: {
      cpu_millicores: hour.map((one) => one && Math.round(one.cpuMillicores)),
      memory_bytes: hour.map((one) => one?.memoryBytes ?? null),
    },
  };
}
