import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';

const ENTRIES: Readonly<Record<string, string>> = {
  "'berth/domain'": 'src/domain/index.ts',
  "'berth/testing'": 'src/adapters/memory/index.ts',
};

/** The TypeScript blocks of a page, with the package's entry points as files of this tree. */
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
  [...code.matchAll(/^console\.log.*\n\/\/ (.*)$/gm)].map(([, text = '']) => text);

t.test('each example of docs/reuse.md runs and prints what it says', async (t) => {
  const examples = examplesOf('docs/reuse.md');
  t.testdir();
  t.equal(examples.length, 2);
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
});

t.test('berth/domain exports every rule', async (t) => {
  const index = readFileSync('src/domain/index.ts', 'utf8');
  const files = readdirSync('src/domain', { recursive: true, encoding: 'utf8' });
  const rules = files.filter((file) => file.endsWith('.ts') && file !== 'index.ts');
  t.same(
    rules.filter((file) => !index.includes(`'./${file}'`)),
    [],
  );
});

t.test('the entry points of the package lead to files', async (t) => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { types: string; default: string }>;
  };
  t.same(Object.keys(exports), ['./domain', './testing']);
  for (const { types, default: built } of Object.values(exports)) {
    t.ok(readFileSync(types, 'utf8'));
    t.equal(built, types.replace(/^\.\/src/, './dist').replace(/\.ts$/, '.js'));
  }
});
