import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import type { RecordingFiles } from '../../src/ports/recording-files.ts';

const HEADER = '{"version":2,"width":80,"height":24}\n';

/** What keeping the files of recordings must guarantee. */
export async function recordingFilesContract(name: string, files: RecordingFiles): Promise<void> {
  const all = Number.MAX_SAFE_INTEGER;
  const textOf = async (id: string, maxBytes = all) => {
    const file = await files.read(id, maxBytes);
    if (file === null) return null;
    const bytes = await buffer(file.content);
    if (bytes.length !== file.sizeBytes)
      throw new Error(`${bytes.length} bytes instead of ${file.sizeBytes}`);
    return bytes.toString();
  };

  await t.test(`${name}: a file grows, and is read as far as is asked`, async (t) => {
    const id = randomUUID();
    t.equal(await textOf(id), null);
    const file = await files.create(id);
    t.equal(await textOf(id), '');
    await file.append(HEADER);
    await file.append('[0.5,"o","héllo 🚢"]\n');
    t.equal(await textOf(id), `${HEADER}[0.5,"o","héllo 🚢"]\n`);
    t.equal(await textOf(id, HEADER.length), HEADER);
    t.equal(await textOf(id, 0), '');
    await file.close();
    t.same(await files.mend(id), {
      sizeBytes: Buffer.byteLength(`${HEADER}[0.5,"o","héllo 🚢"]\n`),
      durationMs: 500,
    });
    await files.remove(id);
    t.equal(await textOf(id), null);
    await files.remove(id);
  });

  await t.test(`${name}: half a line at the end is removed, and nothing else`, async (t) => {
    const long = `[2,"o","${'x'.repeat(3_000_000)}"]`;
    for (const [kept, lost] of [
      [HEADER, ''],
      [HEADER, '[1,"o","hé'],
      [`${HEADER}[1.25,"o","a"]\n`, '[2,"r","80x'],
      [`${HEADER}[1.25,"o","a"]\n`, long.slice(0, -1)],
      [`${HEADER}${long}\n`, '['],
      [`${HEADER}[1.25,"o","a"]\n`, '\0\0\0\0'],
      [`${HEADER}[1.25,"o","a"]\n`, '\0\0\n\0\n'],
      ['', '{"version":2,"wid'],
    ] as const) {
      const id = randomUUID();
      const file = await files.create(id);
      await file.append(kept + lost);
      await file.close();
      const facts = await files.mend(id);
      t.equal(facts?.sizeBytes, Buffer.byteLength(kept), `${kept.length} kept, ${lost.length} lost`);
      t.equal(facts?.durationMs, kept.includes(long) ? 2000 : kept.includes('1.25') ? 1250 : 0);
      t.ok((await textOf(id)) === kept);
      await files.remove(id);
    }
    t.equal(await files.mend(randomUUID()), null);
  });

  await t.test(`${name}: those that were not written to are told`, async (t) => {
    const id = randomUUID();
    const file = await files.create(id);
    await file.append(HEADER);
    await file.close();
    t.notOk((await files.untouched(60_000)).includes(id));
    t.ok((await files.untouched(-60_000)).includes(id));
    await files.remove(id);
    t.notOk((await files.untouched(-60_000)).includes(id));
  });
}
