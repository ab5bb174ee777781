import { Parser } from 'tar/parse';

export type Untarred = {
  readonly path: string;
  readonly type: string;
  readonly mode: number;
  readonly content: Buffer;
};

/** The entries of a tar archive, read by a library that did not write it. */
export function untar(archive: Buffer): readonly Untarred[] {
  const entries: (Omit<Untarred, 'content'> & { readonly chunks: Buffer[] })[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
      entries.push({ path: entry.path, type: entry.type, mode: entry.mode ?? 0, chunks });
    },
  });
  parser.end(archive);
  return entries.map(({ chunks, ...entry }) => ({ ...entry, content: Buffer.concat(chunks) }));
}
