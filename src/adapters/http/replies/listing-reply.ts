import { Readable } from 'node:stream';
import type { Static } from '@sinclair/typebox';
import { type FileEntry, type FilePath, pathText } from '../../../domain/containers/files.ts';
import type { Opened } from '../../../ports/containers/inside/container-files.ts';
import type { FolderBody } from '../schema/containers/files.ts';

/** Entries converted at a time, under a millisecond; the event loop is free in between. */
const PIECE = 100;

type Listing = Extract<Opened, { kind: 'listing' }>;

/** A folder as JSON, made in pieces as it is read: a `FolderBody`. */
export function listingAnswer(path: FilePath, found: Listing): string | Readable {
  const pieces = jsonOf(path, found);
  return found.entries.length <= PIECE ? [...pieces].join('') : Readable.from(pieces, { objectMode: false });
}

function* jsonOf(path: FilePath, { entries, complete }: Listing): Generator<string> {
  yield `{"path":${JSON.stringify(pathText(path))},"entries":[`;
  for (let at = 0; at < entries.length; at += PIECE) {
    const piece = JSON.stringify(entries.slice(at, at + PIECE).map(toBody)).slice(1, -1);
    yield at === 0 ? piece : `,${piece}`;
  }
  yield `],"complete":${complete}}`;
}

const toBody = ({
  name,
  kind,
  sizeBytes,
  mode,
  modifiedAt,
}: FileEntry): Static<typeof FolderBody>['entries'][number] => ({
  name,
  type: kind,
  size: sizeBytes,
  mode: mode.toString(8).padStart(4, '0'),
  modified: modifiedAt.toISOString(),
});
