import type { FilePath } from '../../../../domain/containers/files.ts';
import { RuntimeFailure } from '../../../../ports/containers/container-runtime.ts';
import type { FileChange, FileChanges, FileMatch } from '../../../../ports/containers/inside/file-search.ts';

/** Longer than the longest record; the programs are the user's, and may print anything. */
const MAX_RECORD_BYTES = 65_536;
const MAX_CHANGES = 1_000;
const HEAD = /^(\d{1,5}) (\d{1,5}) (\d{1,15}) (\d{1,9}) (\d{1,9})$/;
const MARK = Buffer.from('//');
const END = Buffer.from('end\n');
const LINE_END = 0x0a;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** `./a/b` below a folder, or `./b` as the folder's own name. */
const pathOf = (base: FilePath, bytes: Buffer): FilePath | null => {
  const text = textOf(bytes);
  return text?.startsWith('./') ? [...base, ...text.slice(2).split('/')] : null;
};

const unread = (): RuntimeFailure => new RuntimeFailure('a search printed something else');

/** The matches of SEARCH. `base` is the folder that it searched from. */
export async function* matchesOf(
  output: AsyncIterable<Buffer>,
  base: FilePath,
): AsyncGenerator<FileMatch | 'complete'> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let record = takeMatch(rest); record !== null; record = takeMatch(rest)) {
      rest = rest.subarray(record.bytes);
      const match = toMatch(record, base);
      if (match !== null) yield match;
    }
    if (rest.equals(END)) yield 'complete';
    if (rest.length > MAX_RECORD_BYTES) throw unread();
  }
}

type MatchRecord = {
  readonly bytes: number;
  readonly path: Buffer;
  readonly text: Buffer;
  readonly line: number;
  readonly at: number;
  readonly skipped: number;
};

/** The first whole record; null when more is needed. */
function takeMatch(bytes: Buffer): MatchRecord | null {
  const end = bytes.indexOf(LINE_END);
  if (end < 0) return null;
  if (bytes.equals(END)) return null;
  const fields = HEAD.exec(bytes.subarray(0, end).toString('latin1'));
  if (fields === null) throw unread();
  const [pathBytes = 0, textBytes = 0, line = 0, at = 0, skipped = 0] = fields.slice(1).map(Number);
  const [start, middle] = [end + 1, end + 1 + pathBytes];
  const last = middle + textBytes;
  if (bytes.length <= last) return null;
  if (bytes[last] !== LINE_END) throw unread();
  const [path, text] = [bytes.subarray(start, middle), bytes.subarray(middle, last)];
  return { bytes: last + 1, path, text, line, at, skipped };
}

function toMatch({ path, text, line, at, skipped }: MatchRecord, base: FilePath): FileMatch | null {
  // A cut line may begin and end inside a character.
  const isWhole = skipped === 0 && text.length < 1_000;
  const words = isWhole ? textOf(text) : text.toString();
  const names = pathOf(base, path);
  if (words === null || names === null) return null;
  const before = text.subarray(0, Math.max(0, at - 1 - skipped)).toString().length;
  return { path: names, line, column: skipped + before + 1, text: words };
}

/** The changes of WATCH, a list for each of its rounds; long lists come in parts. */
export async function* changesOf(output: AsyncIterable<Buffer>, base: FilePath): AsyncGenerator<FileChanges> {
  let rest: Buffer = Buffer.alloc(0);
  let changes: FileChange[] = [];
  for await (const chunk of output) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(MARK); end >= 0; end = rest.indexOf(MARK)) {
      const record = rest.subarray(0, end);
      rest = rest.subarray(end + MARK.length);
      const word = record.toString('latin1').split(' ', 1)[0] ?? '';
      if (word === 'too_many') return yield { kind: 'too_many' };
      if (word !== 'round') changes.push(...toChange(word, record.subarray(word.length + 1), base));
      if (word !== 'round' && changes.length < MAX_CHANGES) continue;
      yield { kind: 'changes', changes };
      changes = [];
    }
    if (rest.length > MAX_RECORD_BYTES) throw unread();
  }
}

function toChange(word: string, path: Buffer, base: FilePath): readonly FileChange[] {
  const names = pathOf(base, path);
  if (word !== 'created' && word !== 'changed' && word !== 'removed') throw unread();
  return names === null ? [] : [{ type: word, path: names }];
}
