import type { Page } from 'playwright-core';
import { answering, type Scene } from '../scene.ts';

const HEALTH = /\/api\/admin\/health$/;
const HISTORY = /\/api\/admin\/health\/history/;

const agoMinutes = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

const READY = { state: 'ready', reason: null, detail: null, advice: null } as const;
const ready = (component: string, summary: string) => ({ component, summary, ...READY });

const ENGINE_DOWN = {
  component: 'engine',
  state: 'down',
  reason: 'unreachable',
  summary: 'Engine unreachable',
  detail: 'docker does not answer at /var/run/docker.sock',
  advice: 'start Docker (sudo systemctl start docker) and wait a few seconds',
};
const DISK = {
  component: 'disk',
  state: 'degraded',
  reason: 'unenforced',
  summary: 'Disk quotas not enforced',
  detail: 'the file system of the volumes has no quotas',
  advice: 'See docs/disk.md.',
};

const TESTING = {
  components: [
    { ...ready('engine', 'Engine ready'), since: null },
    { ...ready('isolation', 'Isolation being tested'), state: 'testing', since: null },
  ],
  replicas: [],
};

const replica = (name: string, state: string, minutes: number, seen: number) => ({
  replica: name.repeat(8),
  state,
  started_at: agoMinutes(minutes),
  seen_at: agoMinutes(seen),
  components: state === 'running' ? [ENGINE_DOWN] : [],
});

const FAULTY = {
  components: [
    { ...ready('service', 'Berth ready'), since: agoMinutes(8_000) },
    { ...ready('database', 'Database ready'), since: agoMinutes(8_000) },
    { ...ENGINE_DOWN, since: agoMinutes(12) },
    { ...ready('image', 'Default image ready'), since: agoMinutes(8_000) },
    { ...DISK, since: agoMinutes(8_000) },
    { ...ready('isolation', 'Isolation ready'), since: agoMinutes(8_000) },
    { ...ready('replicas', 'Process ready'), since: agoMinutes(90) },
  ],
  replicas: [replica('7f', 'running', 8_000, 0), replica('c2', 'silent', 3_000, 4)],
};

const outage = (id: number, fault: typeof ENGINE_DOWN, from: number, lasted: number | null) => ({
  ...fault,
  id: `${id}`,
  from: agoMinutes(from),
  to: lasted === null ? null : agoMinutes(from - lasted),
  seconds: lasted === null ? null : lasted * 60,
});
const PROCESS = {
  component: 'replicas',
  state: 'degraded',
  reason: 'silent',
  summary: 'Process silent',
  detail: null,
  advice: null,
} as unknown as typeof ENGINE_DOWN;

const OUTAGES = [
  outage(1, ENGINE_DOWN, 12, null),
  outage(2, PROCESS, 95, 4),
  outage(3, ENGINE_DOWN, 3_000, 67),
  outage(4, DISK, 8_000, 1_600),
];

const mocked = async (page: Page, outages: readonly object[], now: object | null): Promise<void> => {
  await answering(page, HISTORY, () => ({ outages, next_cursor: null }));
  if (now !== null) await answering(page, HEALTH, () => now);
};

/** Administration → Health. */
export const HEALTH_PAGES: readonly Scene[] = (
  [
    { name: 'health', route: '/admin/health', shows: 'Container engine' },
    {
      name: 'health-nothing-failed',
      route: '/admin/health',
      before: (page) => mocked(page, [], TESTING),
      shows: 'Being tested',
    },
    {
      name: 'health-faults',
      route: '/admin/health',
      before: (page) => mocked(page, OUTAGES, FAULTY),
      shows: 'Disk quotas not enforced',
    },
    {
      name: 'health-unknown',
      route: '/admin/health',
      before: async (page) => {
        const failure = () => ({ error: 'internal error', code: 'internal_error' });
        await answering(page, HEALTH, failure, 500);
        await answering(page, HISTORY, failure, 500);
      },
      shows: 'The last 30 days',
      steps: (page) => page.locator('.problem').nth(1).waitFor(),
      expects: /500/,
    },
  ] satisfies readonly Scene[]
).map((scene) => ({ ...scene, who: 'root' }));
