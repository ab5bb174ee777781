import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  limitsWarning,
  lowLimits,
  raiseLimits,
  SHARED_LIMITS,
} from '../../../../src/adapters/docker/kernel/kernel-limits.ts';
import { aFolder } from '../../../support/folder.ts';

/** A folder like /proc/sys. */
function aKernel(t: Test, values: Readonly<Record<string, number>>) {
  const folder = aFolder(t);
  const fileOf = (name: string): string => path.join(folder, ...name.split('.'));
  for (const [name, value] of Object.entries(values)) {
    mkdirSync(path.dirname(fileOf(name)), { recursive: true });
    writeFileSync(fileOf(name), `${value}\n`);
  }
  return { folder, now: (name: string): number => Number(readFileSync(fileOf(name), 'utf8')) };
}

t.test('limits that containers share are raised', async (t) => {
  const kernel = aKernel(t, Object.fromEntries(SHARED_LIMITS.map(({ name }) => [name, 1])));
  t.same(await raiseLimits(kernel.folder), []);
  for (const { name, atLeast } of SHARED_LIMITS) t.equal(kernel.now(name), atLeast, name);
});

t.test('no limit is lowered', async (t) => {
  const name = 'fs.inotify.max_user_instances';
  const kernel = aKernel(t, { [name]: 100_000, 'fs.pipe-user-pages-soft': 0 });
  t.same(await raiseLimits(kernel.folder), []);
  t.equal(kernel.now(name), 100_000);
  t.equal(kernel.now('fs.pipe-user-pages-soft'), 0, 'zero is no limit');
});

t.test('a kernel without them stays as it is', async (t) => {
  t.same(await raiseLimits(path.join(aFolder(t), 'none')), []);
});

t.test('what cannot be raised comes with the command that does', async (t) => {
  const kernel = aKernel(t, { 'fs.inotify.max_user_instances': 128, 'kernel.keys.maxkeys': 0 });
  const low = await lowLimits(kernel.folder);
  t.same(
    low.map(({ name }) => name),
    ['kernel.keys.maxkeys', 'fs.inotify.max_user_instances'],
  );
  t.match(limitsWarning(low), /sysctl -w kernel\.keys\.maxkeys=20000 fs\.inotify\.max_user_instances=65536$/);
  t.equal(limitsWarning([]), null);
});
