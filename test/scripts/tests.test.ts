import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { kindOf } from '../../scripts/lib/test/needs.mjs';
import { workThrough } from '../../scripts/lib/test/schedule.mjs';
import { ALONE, allTests, unitsOf } from '../../scripts/lib/test/units.mjs';
import { mayRunAgain, note } from '../../scripts/lib/test/unsteady.mjs';
import { type Child, runProcess } from '../support/child.ts';
import { aFolder, aFolderOf } from '../support/folder.ts';
import { aTree } from '../support/tree.ts';

const fine = "t.test('fine', async (t) => t.ok(1));";

/** The checkouts share compiled code. */
const compiled = aFolder(t);

/** A checkout with these test files, by path without `test/` and `.test.ts`. */
function aCheckout(t: Test, tests: Readonly<Record<string, string>>): string {
  const files = Object.entries(tests).map(([name, code]) => [
    `test/${name}.test.ts`,
    `import t from 'tap';\n${code}\n`,
  ]);
  const root = aTree(t, Object.fromEntries(files));
  mkdirSync(`${root}/.tap`);
  symlinkSync(compiled, `${root}/.tap/compile-cache`);
  return root;
}

/** The output of `npm test -- test/domain` in a checkout. */
async function run(t: Test, root: string, { requireAll = false } = {}) {
  const command = [`REQUIRE_ALL=${requireAll ? 1 : 0}`, process.execPath, 'scripts/test.mjs', 'test/domain'];
  const child = runProcess(t, '/usr/bin/env', command, root);
  const lines = await linesOf(child);
  return { code: await child.ended, last: lines.at(-1), all: lines.join('\n') };
}

async function linesOf(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await next(child); line !== null; line = await next(child)) lines.push(line);
  return lines;
}

const next = (child: Child): Promise<string | null> => child.line().catch(() => null);

t.test('what a run says', async (t) => {
  const root = aCheckout(t, {
    'domain/bare': 't.ok(true);',
    'domain/beside':
      "t.test('outer', async (t) => { await t.test('a', async (t) => t.ok(1)); t.equal(1 + 1, 3, 'beside'); });",
    'domain/counted':
      "t.test('outer', async (t) => { t.test('a', async (t) => { t.ok(1); t.ok(2); }); t.test('b', async (t) => t.ok(3)); });",
    'domain/dies': `${fine} t.test('dies', async () => process.kill(process.pid, 'SIGKILL'));`,
    'domain/hooks1': `
      t.beforeEach(() => { globalThis.begun = (globalThis.begun ?? 0) + 1; });
      t.teardown(() => { globalThis.tornDown = true; });
      t.setTimeout(60_000);
      ${fine}`,
    'domain/hooks2':
      "t.test('hooks', async (t) => t.same([globalThis.begun, globalThis.tornDown], [1, true]));",
    'domain/left': "t.test('leaves a timer', async (t) => { setTimeout(() => {}, 3_600_000); t.ok(1); });",
    'domain/leftlate': `
      import { createServer } from 'node:net';
      t.test('opens a port after the last file', async (t) => {
        const { send } = process;
        process.send = (message) => {
          if (message.file === null) createServer().listen(0, '127.0.0.1');
          return send.call(process, message);
        };
        t.ok(1);
      });`,
    'domain/leftpipe': `
      t.test('leaves a child with its pipes', async (t) => {
        (await import('node:child_process')).spawn('sleep', ['3600']);
        t.ok(1);
      });`,
    'domain/loose':
      "t.test('waits', async () => { await new Promise((done) => { setTimeout(done, 50); setTimeout(() => { throw new Error('a loose end'); }); }); });",
    'domain/rejected':
      "t.test('waits', async () => { await new Promise((done) => { setTimeout(done, 50); Promise.reject(new Error('never caught')); }); });",
    'domain/skipped': "t.test('c', async (t) => { t.pass('c', { skip: 'no engine' }); });",
    'domain/sums':
      "t.test('outer', async (t) => { t.test('sums', async (t) => { t.equal(1 + 1, 3, 'two and'); t.ok(1); }); });",
    'domain/thrown': "throw new Error('at import');",
    'domain/todo': "t.test('d', { skip: 'needs root' }, async (t) => t.ok(1));",
  });
  const { code, last, all } = await run(t, root);
  t.equal(code, 1);
  t.equal(last, '10 passed, 6 failed, 2 skipped', 'innermost tests are counted, not assertions');
  t.match(
    all,
    /✗ test\/domain\/sums\.test\.ts > outer > sums > two and\n.*-3\n *\+2/s,
    'what failed, and why',
  );
  t.match(all, /✗ test\/domain\/beside\.test\.ts > outer > beside/, 'what fails between tests, too');
  t.match(all, /FAIL test\/domain\/thrown\.test\.ts.*at import/s);
  t.match(all, /✗ test\/domain\/loose\.test\.ts > waits > a loose end/);
  t.match(all, /✗ test\/domain\/rejected\.test\.ts > waits > never caught/);
  t.match(all, /FAIL test\/domain\/dies\.test\.ts.*its process ended with SIGKILL/s);
  t.match(
    all,
    '# test/domain/left.test.ts may have left open: Timeout',
    'a forgotten timer keeps no process',
  );
  t.match(all, '# open after the last file, opened during none: TCPServerWrap');
  const named = [...all.matchAll(/# test\/domain\/(.*)\.test\.ts may have left open: .*PipeWrap/g)].map(
    ([, name]) => name,
  );
  t.same(named, ['leftpipe'], 'no file is named for the pipes of its process');
  for (const name of ['bare', 'counted', 'hooks1', 'hooks2', 'left', 'leftlate', 'leftpipe'])
    t.match(all, `ok   test/domain/${name}.test.ts`, 'no other file minds');
});

t.test('with REQUIRE_ALL=1 whatever is skipped counts as failed, with its reason', async (t) => {
  const root = aCheckout(t, {
    'domain/assertion': "t.test('c', async (t) => { t.pass('c', { skip: 'no engine' }); t.ok(1); });",
    'domain/good': fine,
    'domain/option': "t.test('d', { skip: 'needs root' }, async (t) => t.ok(1));",
  });
  const strict = await run(t, root, { requireAll: true });
  t.match(strict, { code: 1, last: '1 passed, 2 failed' });
  t.match(strict.all, /FAIL test\/domain\/assertion\.test\.ts.*\n.*> c > c\n.*skipped: \n *no engine/);
  t.match(strict.all, /FAIL test\/domain\/option\.test\.ts.*\n.*> d\n.*skipped: \n *needs root/);
});

t.test('a run of no tests fails', async (t) => {
  t.match(await run(t, aTree(t, { 'test/domain/none.ts': '' })), { code: 1, last: '0 passed, 0 failed' });
});

const WHOLE = `
  import { runTestsTwice } from './scripts/lib/test/tests.mjs';
  import { allTests } from './scripts/lib/test/units.mjs';
  const files = allTests('.', { withLong: false });
  const { code, tally } = await runTestsTwice('.', files, { print: console.log, limitSeconds: 2 });
  console.log(JSON.stringify({ code, ...tally }));
`;

/** A whole run in a checkout, with its record there. */
const full = (t: Test, root: string): Promise<string[]> => {
  const command = [process.execPath, '--input-type=module', '--eval', WHOLE];
  const settings = ['REQUIRE_ALL=0', `TEST_RECORD=${root}/.tap/unsteady.tsv`];
  return linesOf(runProcess(t, '/usr/bin/env', [...settings, ...command], root));
};

/** Fails in its first run. */
const once = (name: string, fails: string): string => `
  import { existsSync, writeFileSync } from 'node:fs';
  const tried = existsSync('${name}');
  writeFileSync('${name}', '');
  t.test('first', async (t) => t.ok(1));
  t.test('second', async (t) => { if (!tried) ${fails}; t.ok(1); });`;

t.test(
  'a file that failed runs once more, alone, and one that is unsteady twice fails the run',
  async (t) => {
    const root = aCheckout(t, {
      'http/a-unsteady': once('unsteady', 't.ok(0)'),
      'http/b-hangs': once('hangs', 'await new Promise((done) => setTimeout(done, 60_000))'),
      'http/c-blocks': once('blocks', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'),
      'http/d-good': `${fine} t.test('skipped', { skip: 'needs root' }, async (t) => t.ok(1));`,
    });
    const mended = await full(t, root);
    t.equal(
      mended.at(-1),
      '{"code":0,"passed":7,"failed":0,"skipped":1}',
      'what is skipped does not fail it',
    );
    const files = ['a-unsteady', 'b-hangs', 'c-blocks'].map((name) => `test/http/${name}.test.ts`);
    t.equal(mended.at(-2), `# passed only when run alone: ${files.join(', ')}`);
    t.equal(mended.filter((line) => line === 'ok   test/http/d-good.test.ts').length, 0);
    t.match(
      mended.join('\n'),
      'ok   test/http/d-good.test.ts',
      'a file whose time is up costs no other its result',
    );

    const record = `${root}/.tap/unsteady.tsv`;
    const noted = readFileSync(record, 'utf8').trim().split('\n');
    t.match(noted[0], /^unknown\t\d{4}-\S+Z\ttest\/http\/a-unsteady\.test\.ts\t.*> second > /);
    t.equal(noted.length, 3);
    t.match(readFileSync(`${root}/.tap/seconds.tsv`, 'utf8'), /^test\/http\/d-good\.test\.ts\t[\d.]+\n$/);

    writeFileSync(`${root}/test/http/a-unsteady.test.ts`, `import t from 'tap';${once('now', 't.ok(0)')}`);
    writeFileSync(
      `${root}/test/http/d-good.test.ts`,
      "import t from 'tap'; t.test('never', async (t) => t.ok(0));",
    );
    const broken = await full(t, root);
    t.equal(broken.at(-1), '{"code":1,"passed":6,"failed":1,"skipped":0}');
    t.equal(broken.at(-2), '# more than once in ten runs: test/http/a-unsteady.test.ts');
  },
);

t.test('files that no load affects get no second run', async (t) => {
  for (const folder of ['domain', 'app', 'docs', 'scripts', 'web'])
    t.notOk(mayRunAgain(`test/${folder}/a.test.ts`), folder);
  for (const folder of ['http', 'adapters', 'e2e', 'faults', 'attacks'])
    t.ok(mayRunAgain(`test/${folder}/a.test.ts`), folder);
});

t.test('the record of unsteady files looks back ten runs', async (t) => {
  const record = `${aFolder(t)}/runs/unsteady.tsv`;
  let runs = 0;
  const noteRun = (...files: string[]) => {
    runs += 1;
    const unsteady = files.map((file) => ({ file, failure: 'never:\n\tnot so' }));
    return note(record, { commit: 'abc', at: `run ${runs}` }, unsteady);
  };
  t.same(noteRun('a', 'b'), []);
  for (let n = 0; n < 8; n++) t.same(noteRun(), []);
  t.same(noteRun('a', 'c'), ['a'], 'the tenth run');
  t.same(noteRun('b'), [], 'the eleventh');
  t.match(readFileSync(record, 'utf8'), /^abc\trun 1\ta\tnever: not so\nabc\trun 1\tb\t/);
});

t.test('every test file belongs to one process', async (t) => {
  const all = allTests('.', { withLong: true });
  const shared = unitsOf('.', all).flatMap(({ files }) => files);
  t.same(shared.sort(), all);
  for (const name of ALONE) t.ok(existsSync(`test/${name}.test.ts`), `${name}, which has its own`);
});

const asks = (need: string): string => `import { needs } from '../run/needs.ts';\nneeds(t, '${need}');\n`;

t.test('what a test file imports says what it needs', async (t) => {
  const root = aFolderOf(t, {
    'test/support/database.ts': asks('postgres'),
    'test/support/page.ts': asks('browser'),
    'test/support/scene.ts': "export {\n  one,\n} from './page.ts';\nimport './database.ts';\n",
    'test/http/browser.test.ts': "import t from 'tap';\nimport { one } from '../support/scene.ts';\n",
    'test/http/database.test.ts': "import {\n  one,\n} from '../support/database.ts';\n",
    'test/http/pure.test.ts': "import type { One } from '../support/scene.ts';\n",
  });
  const kind = (name: string) => kindOf(root, `test/http/${name}.test.ts`);
  t.same(['pure', 'database', 'browser'].map(kind), ['pure', 'database', 'engine']);
});

t.test('files share a process until they take too long, and the longest begins', async (t) => {
  const root = aFolderOf(t, {
    'test/e2e/one.test.ts': asks('engine'),
    'test/e2e/two.test.ts': asks('engine'),
    'test/faults/one.test.ts': asks('engine'),
  });
  const seconds = new Map([
    ['test/e2e/one.test.ts', 40],
    ['test/e2e/two.test.ts', 30],
    ['test/faults/one.test.ts', 10],
    ['test/http/a.test.ts', 8],
    ['test/http/b.test.ts', 20],
    ['test/http/c.test.ts', 4],
    ['test/http/property.test.ts', 1],
    ['test/web/a.test.ts', 16],
  ]);
  const units = unitsOf(root, [...seconds.keys(), 'test/web/new.test.ts'], seconds);
  t.same(
    units.map(({ files }) => files.map((file) => file.replace(/^test\/|\.test\.ts$/g, '')).join(' ')),
    ['e2e/one e2e/two', 'http/a http/b', 'web/a web/new', 'faults/one', 'http/c', 'http/property'],
  );
});

t.test('a process runs a part of the pure files, however slow the machine was', async (t) => {
  const root = aFolder(t);
  const processes = (each: number) => {
    const seconds = new Map(Array.from({ length: 60 }, (_, n) => [`test/http/${n + 10}.test.ts`, each]));
    return unitsOf(root, [...seconds.keys()], seconds).length;
  };
  t.same([0.3, 4, 40].map(processes), [1, 6, 6]);
});

/** Runs units whose ends the test controls; reports what runs. */
function aSchedule(names: readonly string[], atOnce: number, most = atOnce) {
  const running: string[] = [];
  const ends = new Map<string, (left?: readonly string[]) => void>();
  let prepare = () => {};
  let idle = () => {};
  const units = names.map((name) => ({
    name,
    files: [name],
    kind: name.startsWith('engine') ? ('engine' as const) : ('pure' as const),
    seconds: 1,
  }));
  const done = workThrough(units, {
    atOnce,
    most,
    onIdle: (then) => {
      idle = then;
      return () => {};
    },
    prepared: new Promise<void>((resolve) => {
      prepare = resolve;
    }),
    run: (files) => {
      running.push(...files);
      return new Promise((resolve) => ends.set(`${files}`, (left = []) => resolve(left)));
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    running: () => running.toSorted(),
    async prepared() {
      prepare();
      await turn();
    },
    idle: () => idle(),
    async end(name: string, left?: readonly string[]) {
      running.splice(running.indexOf(name), 1);
      ends.get(name)?.(left);
      await turn();
    },
    done,
  };
}

t.test('an idle machine runs more, and fewer after that until it is idle again', async (t) => {
  const schedule = aSchedule(['a', 'b', 'c', 'd', 'e', 'f'], 2, 4);
  t.same(schedule.running(), ['a', 'b']);
  schedule.idle();
  schedule.idle();
  schedule.idle();
  t.same(schedule.running(), ['a', 'b', 'c', 'd'], 'at most four');
  await schedule.end('a');
  await schedule.end('b');
  t.same(schedule.running(), ['c', 'd'], 'none starts while more than usual run');
  schedule.idle();
  t.same(schedule.running(), ['c', 'd', 'e']);
  await schedule.end('c');
  await schedule.end('d');
  t.same(schedule.running(), ['e', 'f']);
  for (const name of schedule.running()) await schedule.end(name);
  await schedule.prepared();
  await schedule.done;
});

t.test('what needs an engine waits for it, and leaves room for what needs none', async (t) => {
  const schedule = aSchedule(['engine1', 'engine2', 'engine3', 'a', 'b', 'c'], 3);
  t.same(schedule.running(), ['a', 'b'], 'one place is kept for what uses the engine');
  await schedule.prepared();
  t.same(schedule.running(), ['a', 'b', 'engine1']);
  await schedule.end('a');
  t.same(schedule.running(), ['b', 'engine1', 'engine2']);
  await schedule.end('b');
  t.same(schedule.running(), ['c', 'engine1', 'engine2']);
  await schedule.end('c', ['left over']);
  t.same(schedule.running(), ['engine1', 'engine2', 'left over'], 'what a dead process did not get to');
  await schedule.end('left over');
  t.same(schedule.running(), ['engine1', 'engine2', 'engine3'], 'nothing else is left');
  for (const name of schedule.running()) await schedule.end(name);
  await schedule.done;
});

t.test('one at a time', async (t) => {
  const schedule = aSchedule(['a', 'engine1', 'b'], 1);
  t.same(schedule.running(), ['a']);
  await schedule.prepared();
  for (const name of ['a', 'engine1', 'b']) {
    t.equal(schedule.running().length, 1);
    await schedule.end(schedule.running()[0] ?? name);
  }
  await schedule.done;
});
