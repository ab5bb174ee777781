import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect, promisify } from 'node:util';
import t, { type Test } from 'tap';
import { prometheusMetrics } from '../../src/adapters/prometheus/prometheus-metrics.ts';
import { eventText, RESYNC_TEXT } from '../../src/adapters/websocket/events/event-frames.ts';
import * as client from '../../src/client/index.ts';
import { Files } from '../../src/client/inside/files.ts';
import { Processes } from '../../src/client/processes/processes.ts';
import { mintToken, TOKEN_RANDOM_BYTES } from '../../src/domain/identity/token.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { listening } from '../support/terminal/terminals.ts';

const ENTRIES: Readonly<Record<string, string>> = {
  "'berth/client'": 'src/client/index.ts',
  "'berth/domain'": 'src/domain/index.ts',
  "'berth/protocol'": 'src/protocol/index.ts',
  "'berth/testing'": 'src/adapters/memory/index.ts',
};

/** A page's TypeScript blocks, with the package's entry points as files of this tree. */
function examplesOf(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  return blocks.map((block) =>
    Object.entries(ENTRIES).reduce(
      (code, [name, file]) => code.replaceAll(name, JSON.stringify(path.resolve(file))),
      block,
    ),
  );
}

const commentsOf = (code: string): string[] =>
  [...code.matchAll(/\bconsole\.log.*\n(?: *break;\n\}\n)?\/\/ (.*)$/gm)].map(([, text = '']) => text);

t.test('each example of docs/reuse.md runs and prints what it says', async (t) => {
  await runExamples(t, 'docs/reuse.md', 3);
});

t.test('each example of docs/client.md runs and prints what it says', async (t) => {
  const service = await aService();
  process.env['BERTH_SERVER'] = (await listening(t, service)).replace('ws', 'http');
  process.env['BERTH_TOKEN'] = (await aPerson(service, 'ada')).token;
  t.teardown(() => {
    delete process.env['BERTH_SERVER'];
    delete process.env['BERTH_TOKEN'];
  });
  await runExamples(t, 'docs/client.md', 6);
});

t.test('docs/client.md names everything that the client exports', async (t) => {
  const page = readFileSync('docs/client.md', 'utf8');
  const index = readFileSync('src/client/index.ts', 'utf8');
  const exported = [...index.matchAll(/\{([^}]*)\}/g)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.replace(/^\s*type\s/, '').trim())
    .filter(Boolean);
  t.ok(exported.length > 40, `${exported.length} exports`);
  const classes = [client.Berth, client.Container, client.Process, client.RunningCommand, client.Terminal];
  const members = [...classes, Files, Processes].flatMap((one) => Object.getOwnPropertyNames(one.prototype));
  const isNamed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(page);
  t.same(
    [...exported, ...members].filter((name) => !OF_THE_CLIENT_ITSELF.includes(name) && !isNamed(name)),
    [],
  );
});

/** Members that other modules of the client call. */
const OF_THE_CLIENT_ITSELF = ['constructor', 'begin', 'fail'];

async function runExamples(t: Test, page: string, count: number): Promise<void> {
  const examples = examplesOf(page);
  t.testdir();
  t.equal(examples.length, count);
  for (const [number, code] of examples.entries()) {
    const file = path.join(t.testdirName, `example-${number}.ts`);
    writeFileSync(file, code);
    const printed: string[] = [];
    const { log } = console;
    console.log = (value: unknown) => printed.push(inspect(value, { breakLength: Number.POSITIVE_INFINITY }));
    try {
      await import(file);
    } finally {
      console.log = log;
    }
    t.same(printed, commentsOf(code));
    t.not(printed.length, 0);
  }
}

t.test('berth/domain exports every rule', async (t) => {
  const index = readFileSync('src/domain/index.ts', 'utf8');
  const files = readdirSync('src/domain', { recursive: true, encoding: 'utf8' });
  const rules = files.filter((file) => file.endsWith('.ts') && file !== 'index.ts');
  t.same(
    rules.filter((file) => !index.includes(`'./${file}'`)),
    [],
  );
});

t.test("the package's entry points lead to files", async (t) => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { types: string; default: string }>;
  };
  t.same(Object.keys(exports), ['./domain', './client', './protocol', './testing']);
  for (const { types, default: built } of Object.values(exports)) {
    t.ok(readFileSync(types, 'utf8'));
    t.equal(built, types.replace(/^\.\/src/, './dist').replace(/\.ts$/, '.js'));
  }
});

const page = readFileSync('docs/containers.md', 'utf8');
const EXAMPLE = /```sh\n([\s\S]*?)```\n```(?:json|text)\n([\s\S]*?)```/g;

/** The page's answer; `…` stands for anything. */
const shown = (text: string): RegExp => {
  const literal = text
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]*')}\\n?$`);
};

const run = async (script: string, env: NodeJS.ProcessEnv): Promise<string> =>
  (await promisify(execFile)('bash', ['-c', script], { env: { ...process.env, ...env } })).stdout;

/** Output arrives in any pieces; the page shows it in one. */
const joined = (lines: string): string => lines.replace(/"\}\n\{"stream":"(?:stdout|stderr)","data":"/g, '');

t.test('the examples of docs/containers.md have the answers it shows', { timeout: 120_000 }, async (t) => {
  const service = await aService();
  t.teardown(() => service.http.close());
  const URL = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const { token: TOKEN } = await anApiToken(service, await aPerson(service, 'ada'));
  let ID = '';
  const examples = [...page.matchAll(EXAMPLE)];
  t.equal(examples.length, [...page.matchAll(/```sh\n/g)].length, 'each has its answer');
  for (const [, command = '', answer = ''] of examples) {
    const printed = await run(command, { URL, TOKEN, ID });
    t.match(joined(printed), shown(answer), command);
    ID ||= JSON.parse(printed).db_id;
  }
});

const eventsPage = readFileSync('docs/events.md', 'utf8');

t.test('the messages of docs/events.md are real frames', async (t) => {
  const [, shown = ''] = /```json\n(.*)\n```/.exec(eventsPage) ?? [];
  const { type, data, id, time } = JSON.parse(shown);
  const event = {
    type,
    data,
    id,
    time: new Date(time),
    dbId: data.db_id,
    audience: [],
    isForAdministrators: false,
  };
  t.equal(eventText(event), shown);
  t.ok(eventsPage.includes(`\`${RESYNC_TEXT}\``));
});

const names = async (): Promise<ReadonlySet<string>> => {
  const { body } = await prometheusMetrics().text();
  return new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
};

type Panel = { readonly title: string; readonly targets: readonly { readonly expr: string }[] };

t.test('every metric of the dashboard exists', async (t) => {
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

t.test('docs/metrics.md lists exactly our own metrics', async (t) => {
  const page = readFileSync('docs/metrics.md', 'utf8');
  const listed = [...page.matchAll(/^\| `(berth_\w+)`/gm)].map(([, name]) => name);
  const ours = [...(await names())].filter((name) => name.startsWith('berth_'));
  t.same(listed.sort(), ours.sort());
});

const securityPage = readFileSync('docs/security.md', 'utf8');

t.test('the expression for scanners matches every API token, and little else', async (t) => {
  const expression = new RegExp(/\n```\n(svc_.*)\n```/.exec(securityPage)?.[1] ?? 'missing', 'g');
  for (let n = 0; n < 100; n += 1) {
    const { secret } = mintToken(randomBytes(TOKEN_RANDOM_BYTES));
    t.same(`TOKEN="${secret}" # note`.match(expression), [secret]);
  }
  for (const other of [
    'svc_0123456789ab',
    `svc_${'x'.repeat(64)}`,
    `SVC_${'0'.repeat(64)}`,
    `svc_${'0'.repeat(63)}`,
  ]) {
    t.equal(other.match(expression), null, other);
  }
});
