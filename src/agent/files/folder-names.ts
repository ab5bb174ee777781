import { opendir } from 'node:fs/promises';

/** The names in a folder, sorted; not complete above `most`, or when some are not UTF-8, which are omitted. */
export async function namesIn(
  folder: string,
  most = Number.POSITIVE_INFINITY,
): Promise<{ names: string[]; complete: boolean }> {
  const names: string[] = [];
  let complete = true;
  for await (const { name } of await opendir(folder, { encoding: 'buffer' as never })) {
    const bytes = name as unknown as Buffer;
    const text = bytes.toString();
    if (!Buffer.from(text).equals(bytes)) complete = false;
    else if (names.length < most) names.push(text);
    else return { names: names.sort(), complete: false };
  }
  return { names: names.sort(), complete };
}
