import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { listening } from '../support/terminal/terminals.ts';

const page = readFileSync('docs/sandboxes.md', 'utf8');
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);

const commentsOf = (code: string): string[] =>
  [...code.matchAll(/^ *console\.log.*\n *\/\/ (.*)$/gm)].map(([, text = '']) => text);

t.test('each example of docs/sandboxes.md runs and prints what it says', async (t) => {
  const service = await aService();
  const server = (await listening(t, service)).replace('ws', 'http');
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  Object.assign(process.env, { BERTH_SERVER: server, BERTH_TOKEN: token });
  t.teardown(() => {
    delete process.env['BERTH_SERVER'];
    delete process.env['BERTH_TOKEN'];
  });
  t.testdir();
  t.equal(examples.length, 8);
  for (const [number, code] of examples.entries()) {
    const file = path.join(t.testdirName, `example-${number}.ts`);
    writeFileSync(file, code.replace("'berth/client'", JSON.stringify(path.resolve('src/client/index.ts'))));
    const printed: string[] = [];
    const { log } = console;
    console.log = (value: unknown) => printed.push(inspect(value, { breakLength: Number.POSITIVE_INFINITY }));
    try {
      await import(file);
    } finally {
      console.log = log;
    }
    t.same(printed, commentsOf(code), `example ${number}`);
    t.equal(printed.length, 1);
  }
  const left = await service.ports.storage.repositories.containers.listAllLive();
  t.same(left.map(({ name }) => name).sort(), ['build', 'dev', 'user-7'], 'ephemeral ones are deleted');
});
