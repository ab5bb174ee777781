import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';

const page = readFileSync('docs/containers.md', 'utf8');
const EXAMPLE = /```sh\n([\s\S]*?)```\n```(?:json|text)\n([\s\S]*?)```/g;

/** The answer that the page shows; `…` stands for anything. */
const shown = (text: string): RegExp => {
  const literal = text
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]*')}\\n?$`);
};

const run = async (script: string, env: NodeJS.ProcessEnv): Promise<string> =>
  (await promisify(execFile)('bash', ['-c', script], { env: { ...process.env, ...env } })).stdout;

/** Output comes in pieces as it likes; the page shows it whole. */
const joined = (lines: string): string => lines.replace(/"\}\n\{"stream":"(?:stdout|stderr)","data":"/g, '');

t.test('the examples of docs/containers.md answer what it says', { timeout: 120_000 }, async (t) => {
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

t.test('pages that it points to are there', async (t) => {
  for (const [, target = ''] of page.matchAll(/\]\(([\w/-]+\.md)[^)]*\)/g)) {
    t.ok(readFileSync(`docs/${target}`, 'utf8').length > 0, target);
  }
});
