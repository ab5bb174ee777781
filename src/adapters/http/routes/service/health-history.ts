import type { Health, HealthHistory } from '../../../../app/service/health.ts';
import type { ComponentReport, Finding, Outage } from '../../../../domain/service/health.ts';
import {
  adviceOf,
  type Component,
  componentName,
  outageWords,
  testingWords,
} from '../../../../domain/service/health-words.ts';
import { operation } from '../../open-api/route-schema.ts';
import { paged } from '../../pagination.ts';
import * as schema from '../../schema/service/health.ts';
import type { Routes } from '../../server.ts';

/** For administrators: the health now, and the outages. */
export const healthHistoryRoutes =
  (health: HealthHistory): Routes =>
  (http) => {
    http.get(
      '/api/admin/health',
      operation('adminHealth.read', 'Read the health of each component and process', {
        config: { scope: 'admin', failure: 'failed to read the health' },
        response: { 200: schema.HealthBody },
      }),
      async () => toBody(await health.now()),
    );

    http.get(
      '/api/admin/health/history',
      operation('adminHealth.history', 'List the outages', {
        config: { scope: 'admin', failure: 'failed to list outages' },
        querystring: schema.OutageQuery,
        response: { 200: schema.OutagePage },
      }),
      async ({ query }) => {
        const { items, next } = await paged(query, (request) =>
          health.outages(query.component ?? null, request),
        );
        return { outages: items.map(outageBody), next_cursor: next };
      },
    );
  };

function toBody({ components, replicas }: Health): schema.HealthBody {
  const reports = replicas.filter(({ state }) => state === 'running').flatMap(({ parts }) => parts);
  return {
    components: components.map(({ component, finding, since }) => ({
      ...foundBody(component, finding, stepOf(reports, component)),
      since: since?.toISOString() ?? null,
    })),
    replicas: replicas.map(({ replica, state, startedAt, seenAt, parts }) => ({
      replica,
      state,
      started_at: startedAt.toISOString(),
      seen_at: seenAt.toISOString(),
      components: parts.map((report) => foundBody(report.component, report, report.mend)),
    })),
  };
}

/** The step that brings the component back, as a process reports it. */
const stepOf = (reports: readonly ComponentReport[], component: Component): string | null =>
  reports.find((report) => report.component === component && report.mend !== null)?.mend ?? null;

function foundBody(component: Component, finding: Finding, step: string | null) {
  const { state } = finding;
  if (state === 'ready' || state === 'testing') {
    const summary = state === 'ready' ? `${componentName(component)} ready` : testingWords(component);
    return { component, state, reason: null, summary, detail: null, advice: null };
  }
  const { reason, detail } = finding;
  const summary = outageWords(component, reason);
  return { component, state, reason, summary, detail, advice: step ?? adviceOf(reason) };
}

const outageBody = ({ from, to, ...outage }: Outage): schema.OutageBody => ({
  ...outage,
  summary: outageWords(outage.component, outage.reason),
  from: from.toISOString(),
  to: to?.toISOString() ?? null,
  seconds: to === null ? null : Math.round((to.getTime() - from.getTime()) / 1_000),
});
