import { readFileSync } from 'node:fs';
import t from 'tap';
import { prometheusMetrics } from '../../src/adapters/prometheus/prometheus-metrics.ts';

const names = async (): Promise<ReadonlySet<string>> => {
  const { body } = await prometheusMetrics().text();
  return new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
};

type Panel = { readonly title: string; readonly targets: readonly { readonly expr: string }[] };

t.test('every metric of the dashboard is one that there is', async (t) => {
  const known = await names();
  const { panels } = JSON.parse(readFileSync('docs/grafana/berth.json', 'utf8')) as { panels: Panel[] };
  t.ok(panels.length > 10);
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const used = [...expr.matchAll(/\b(?:berth|process|nodejs)_\w+/g)].map(([name]) => name);
      t.ok(used.length > 0, `${title}: ${expr}`);
      for (const name of used) {
        const family = name.replace(/_(bucket|sum|count)$/, '');
        t.ok(known.has(name) || known.has(family), `${title}: ${name}`);
      }
    }
  }
});

t.test('docs/metrics.md has every metric of our own, and no other', async (t) => {
  const page = readFileSync('docs/metrics.md', 'utf8');
  const listed = [...page.matchAll(/^\| `(berth_\w+)`/gm)].map(([, name]) => name);
  const ours = [...(await names())].filter((name) => name.startsWith('berth_'));
  t.same(listed.sort(), ours.sort());
});
