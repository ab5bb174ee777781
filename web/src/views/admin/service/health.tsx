import { useEffect } from 'preact/hooks';
import { sentence } from '../../../api/errors.ts';
import { commandIn } from '../../../api/health.ts';
import {
  type ComponentHealth,
  getServiceHealth,
  listOutages,
  type Outage,
  type ReplicaHealth,
} from '../../../api/service/health-history.ts';
import { now } from '../../../lib/clock.ts';
import { ago, at, timeOfDay } from '../../../lib/format/format.ts';
import { lengthWords, outageDays, TIMELINE_DAYS } from '../../../lib/outage-days.ts';
import { onServiceChange } from '../../../state/events.ts';
import { poll } from '../../../state/poll.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { usePages } from '../../../ui/hooks/use-pages.ts';
import { LoadProblem } from '../../../ui/problem.tsx';
import { Loading, Section } from '../../../ui/section.tsx';

const EVERY_MS = 30_000;

/** The health of each component now, and the outages of the last days. */
export function HealthPage() {
  const health = useLoaded(getServiceHealth);
  const history = usePages(listOutages);
  useEffect(() => {
    const polling = poll(health.reload, () => EVERY_MS);
    const stop = onServiceChange('health_changed', () => {
      polling.soon();
      void history.reload();
    });
    return () => {
      stop();
      polling.stop();
    };
  }, []);
  return (
    <>
      <Section title="Now" lead="The components of the server, as its processes last found them.">
        <LoadProblem of={health} />
        {health.value === null ? (
          health.failure === null && <Loading />
        ) : (
          <ul class="health">
            {health.value.components.map((one) => (
              <ComponentLine key={one.component} of={one} />
            ))}
          </ul>
        )}
        {(health.value?.replicas.length ?? 0) > 1 && <Replicas of={health.value?.replicas ?? []} />}
      </Section>
      <Section
        title={`The last ${TIMELINE_DAYS} days`}
        lead="When something was not ready, and for how long."
      >
        <LoadProblem of={history} />
        {history.value === null ? history.failure === null && <Loading /> : <Timeline of={history.value} />}
        {history.more !== null && (
          <Button onClick={history.more} busy={history.busy ? 'Loading' : undefined}>
            Show earlier ones
          </Button>
        )}
      </Section>
    </>
  );
}

const TONES = { ready: 'good', testing: 'busy', degraded: 'warn', down: 'bad' } as const;
const STATES = {
  ready: 'Ready',
  testing: 'Being tested',
  degraded: 'Degraded',
  down: 'Down',
} as const satisfies Readonly<Record<ComponentHealth['state'], string>>;
const NAMES: Readonly<Record<ComponentHealth['component'], string>> = {
  service: 'Berth',
  database: 'Database',
  engine: 'Container engine',
  image: 'Default image',
  disk: 'Disk quotas',
  isolation: 'Isolation of containers',
  replicas: 'Processes',
};

/** No fault is known. */
const isWell = (state: ComponentHealth['state']): boolean => state === 'ready' || state === 'testing';

const lasting = (since: string): string =>
  lengthWords(Math.max(0, Math.floor((now.value.getTime() - Date.parse(since)) / 1_000)));

function ComponentLine({
  of: { component, state, summary, detail, advice, since },
}: {
  of: ComponentHealth;
}) {
  const command = advice === null ? null : commandIn(advice);
  return (
    <li class={`health-line ${TONES[state]}`}>
      <span class={`status ${TONES[state]}`}>
        <span class="dot" />
        {STATES[state]}
      </span>
      <div>
        <strong>{isWell(state) ? NAMES[component] : summary}</strong>
        {since !== null && (
          <span class="since" title={`since ${at(since)}`}>
            for {lasting(since)}
          </span>
        )}
        {detail !== null && <p>{sentence(detail)}</p>}
        {advice !== null && <p>{sentence(advice)}</p>}
        {command !== null && (
          <div class="command">
            <code>{command}</code>
            <CopyButton text={command} label="Copy the command" />
          </div>
        )}
      </div>
    </li>
  );
}

function Replicas({ of }: { of: readonly ReplicaHealth[] }) {
  return (
    <ul class="health-replicas">
      {of.map(({ replica, state, started_at, seen_at, components }) => {
        const faults = components.filter((one) => !isWell(one.state)).map(({ summary }) => summary);
        return (
          <li key={replica}>
            <code>{replica.slice(0, 8)}</code> {state}, started {ago(started_at, now.value)}, last seen{' '}
            {ago(seen_at, now.value)}
            {faults.length > 0 && `: ${faults.join(', ')}`}
          </li>
        );
      })}
    </ul>
  );
}

function Timeline({ of }: { of: readonly Outage[] }) {
  const days = outageDays(of, now.value);
  if (days.length === 0) return <p class="none">Nothing failed.</p>;
  return (
    <ol class="outages">
      {days.map(({ day, outages }) => (
        <li key={day}>
          <h3>{day}</h3>
          <ul>
            {outages.map((outage) => (
              <OutageLine key={outage.id} of={outage} />
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

function OutageLine({ of: { state, summary, detail, from, to, seconds } }: { of: Outage }) {
  return (
    <li class={`outage ${TONES[state]}`}>
      <time dateTime={from} title={to === null ? at(from) : `${at(from)} to ${at(to)}`}>
        {timeOfDay(from)}
      </time>
      <div>
        <strong>{summary}</strong> {seconds === null ? 'and not over' : `for ${lengthWords(seconds)}`}
        {detail !== null && <p>{sentence(detail)}</p>}
      </div>
    </li>
  );
}
