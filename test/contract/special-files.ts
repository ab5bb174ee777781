import { Readable } from 'node:stream';
import type { Test } from 'tap';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import { aSpec } from '../support/container-spec.ts';
import type { TestInstance } from '../support/engine.ts';
import { shellIn } from '../support/inside.ts';
import { filesOf } from './container-files.ts';

export type Box = {
  readonly handle: RuntimeHandle;
  readonly sh: (script: string) => Promise<string>;
  readonly files: ReturnType<typeof filesOf>;
};

/** A running container with its files and a shell. */
export async function aBox({ runtime, files, image }: TestInstance, spec = aSpec(image)): Promise<Box> {
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  return { handle, sh: shellIn(runtime, handle), files: filesOf(files, handle) };
}

/** Links, wherever they stand in a path. */
export async function links(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`cd /workspace && mkdir real && echo inner > real/file && ln -s real near && ln -s /etc far &&
    ln -s real/file link && ln -s /etc/passwd secret && ln -s nowhere dangling && ln -s loop loop && ln -s . here`);
  t.equal(String(await files.read(['near', 'file'])), 'inner\n', 'a folder on the way may be a link');
  t.equal(String(await files.read(['here', 'here', 'real', 'file'])), 'inner\n');
  await Promise.all(
    ['link', 'secret', 'dangling', 'loop', 'near', 'far'].flatMap((name) => [
      t.rejects(files.read([name]), { message: 'file_special' }, name),
      t.rejects(files.write([name], 'x'), { message: 'file_special' }, `${name} is not written through`),
    ]),
  );
  await Promise.all([
    t.rejects(files.read(['far', 'passwd']), { message: 'file_outside' }),
    t.rejects(files.names(['far', 'ssl']), { message: 'file_outside' }),
    t.rejects(files.write(['far', 'new'], 'x'), { message: 'file_outside' }),
    t.rejects(files.write(['far', 'a', 'b', 'new'], 'x'), { message: 'file_outside' }),
    t.rejects(files.remove(['far', 'passwd']), { message: 'file_outside' }),
    t.rejects(files.read(['loop', 'x']), { message: 'file_not_found' }),
  ]);
  t.equal(
    await sh('ls -d /etc/new /etc/a 2>/dev/null; cat /workspace/real/file'),
    'inner',
    'nothing was made',
  );
  await files.remove(['near']);
  await files.remove(['far']);
  t.equal(await sh('cat /workspace/real/file; test -s /etc/passwd'), 'inner', 'a link is removed alone');
  const listed = await files.open([], 'listing');
  const kinds = listed.kind === 'listing' ? listed.entries.map(({ name, kind }) => `${name} ${kind}`) : [];
  t.ok(kinds.includes('link link') && kinds.includes('real folder'));
}

/** Pipes, and names that are not UTF-8. */
export async function special(t: Test, { sh, files }: Box): Promise<void> {
  await sh(
    'mkdir /workspace/odd && cd /workspace/odd && mkfifo pipe && echo x > plain && echo y > "$(printf "\\377")"',
  );
  // Who opens a pipe waits for its other end.
  await t.rejects(files.read(['odd', 'pipe']), { message: 'file_special' });
  await t.rejects(files.write(['odd', 'pipe'], 'x'), { message: 'file_special' });
  t.match(await files.open(['odd'], 'listing'), {
    complete: false,
    entries: [
      { name: 'pipe', kind: 'other' },
      { name: 'plain', kind: 'file' },
    ],
  });
  t.same(
    (await files.tar(['odd'])).map(({ path }) => path),
    ['odd/', 'odd/plain'],
  );
  await files.remove(['odd', 'pipe']);
}

/** What an upload replaces, and when. */
export async function uploads(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`mkdir /workspace/up && cd /workspace/up && echo old > tool && chmod 4750 tool && chown 1000:1000 tool &&
    touch -d '2020-01-01 00:00:00' .berth-upload-left && touch .berth-upload-fresh`);
  await files.write(['up', 'tool'], 'new');
  t.equal(await sh("stat -c '%a %u:%g' /workspace/up/tool; cat /workspace/up/tool"), '750 1000:1000\nnew');
  t.same(await files.names(['up']), ['.berth-upload-fresh', 'tool'], 'what a crash left is cleared away');
  await files.write(['up', 'fresh'], 'x');
  t.equal(await sh("stat -c '%a %u:%g' /workspace/up/fresh"), '644 0:0');
  const rest = Promise.withResolvers<string>();
  const slow = Readable.from(
    (async function* () {
      yield Buffer.from('a');
      yield Buffer.from(await rest.promise);
    })(),
  );
  const writing = files.write(['up', 'slow'], slow);
  await sh("until find /workspace/up -name '.berth-upload-*-*' -size +0 | grep -q .; do sleep 0.05; done");
  await t.rejects(files.read(['up', 'slow']), { message: 'file_not_found' }, 'not there before it is whole');
  rest.resolve('bc');
  await writing;
  t.equal(String(await files.read(['up', 'slow'])), 'abc');
  const many = Array.from({ length: 4 }, (_, index) =>
    files.write(['up', 'same'], String(index).repeat(100_000)),
  );
  await Promise.all(many);
  const last = String(await files.read(['up', 'same']));
  t.equal(last, (last[0] ?? '').repeat(100_000), 'of many at once one wins whole');
}
