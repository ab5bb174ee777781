import type { ExplainedLifetime } from '../../../../app/containers/lifetime/container-lifetime.ts';
import type { Container } from '../../../../domain/containers/container.ts';
import { type LabelFilter, parseLabelFilter } from '../../../../domain/containers/lifetime/labels.ts';
import type { LifetimeRequest } from '../../../../domain/containers/lifetime/lifetime.ts';
import { endOf, idleEnd } from '../../../../domain/containers/lifetime/lifetime-end.ts';
import { Refusal } from '../../../../domain/errors.ts';
import type { LifetimeBody, LifetimeRequestBody, LifetimeSummary } from '../../schema/containers/lifetime.ts';

const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null;

/** null for a container that has no end by itself. */
export const toLifetimeSummary = (container: Container): LifetimeSummary | null => {
  const { isEphemeral, endsAt, idleSeconds } = container.lifetime;
  return isEphemeral || endsAt !== null || idleSeconds !== null ? toSummary(container) : null;
};

function toSummary(container: Container): LifetimeSummary {
  const { isEphemeral, endsAt, idleSeconds, onIdle, keptUntil } = container.lifetime;
  const next = endOf(container);
  const canEnd = next !== null;
  return {
    ephemeral: isEphemeral,
    ends_at: isoOf(endsAt),
    idle_seconds: idleSeconds,
    on_idle: isEphemeral ? 'delete' : onIdle,
    kept_until: isoOf(keptUntil),
    idle_ends_at: canEnd ? isoOf(idleEnd(container)?.at ?? null) : null,
    next_end: next && { at: next.at.toISOString(), action: next.action, because: next.because },
  };
}

export const toLifetimeBody = ({ container, activity, wouldStop }: ExplainedLifetime): LifetimeBody => ({
  ...toSummary(container),
  activity: activity.map(({ kind, lastAt }) => ({ kind, last_at: lastAt.toISOString() })),
  would_stop: wouldStop,
});

/** Absent fields stay absent. */
export const toLifetimeRequest = (body: LifetimeRequestBody): LifetimeRequest => ({
  ...(body.ttl_seconds === undefined ? {} : { ttlSeconds: body.ttl_seconds }),
  ...(body.idle_seconds === undefined ? {} : { idleSeconds: body.idle_seconds }),
  ...(body.on_idle === undefined ? {} : { onIdle: body.on_idle }),
  ...(body.keep_seconds === undefined ? {} : { keepSeconds: body.keep_seconds }),
});

/** Throws a refusal for one that is not `key:value`. */
export const toLabelFilters = (given: string | readonly string[] = []): readonly LabelFilter[] =>
  [given].flat().map((text) => {
    const filter = parseLabelFilter(text);
    if (filter === null)
      throw new Refusal({ code: 'validation_failed', fields: { label: 'must have the form key:value' } });
    return filter;
  });
