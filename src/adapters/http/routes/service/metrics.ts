import type { Metrics } from '../../../../ports/metrics.ts';
import { operation } from '../../open-api/route-schema.ts';
import type { Routes } from '../../server.ts';

/** For local programs and administrators. */
export const metricsRoutes =
  (metrics: Pick<Metrics, 'text'>): Routes =>
  (http) => {
    http.get(
      '/metrics',
      {
        exposeHeadRoute: false,
        ...operation('service.metrics', 'Read the metrics, for Prometheus', {
          config: { scope: 'admin', allowsLocal: true },
          alsoAs: ['text/plain'],
        }),
      },
      async (_request, reply) => {
        const { type, body } = await metrics.text();
        return reply.type(type).send(body);
      },
    );
  };
