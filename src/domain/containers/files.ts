import type { FieldFaults } from '../field-faults.ts';
import { jsonBytes } from '../json-size.ts';
import { ok, type Result, refuse } from '../result.ts';

/** Names below the home (`/workspace`), outermost first; empty for the home itself. None is `.` or `..`. */
export type FilePath = readonly string[];

export type FileKind = 'file' | 'folder' | 'link' | 'other';

export type FileEntry = {
  readonly name: string;
  readonly kind: FileKind;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly modifiedAt: Date;
};

/** Why a path is unavailable. The container itself works. */
export type FileError = {
  readonly code:
    | 'file_not_found'
    | 'file_outside'
    | 'file_special'
    | 'file_in_the_way'
    | 'file_too_large'
    | 'file_not_permitted'
    | 'file_tools_missing'
    | 'disk_full';
};

export const FILE_LIMITS = {
  pathBytes: 4096,
  nameBytes: 255,
  depth: 64,
  /** Entries of one listing. */
  listed: 10_000,
  /** The same as JSON: a control character in a name takes six bytes. */
  listedJsonBytes: 2 * 1_048_576,
  /** Entries, and bytes, of a folder downloaded as an archive. */
  archived: 1_000_000,
  archiveBytes: 64 * 1024 ** 3,
} as const;

const ENTRY_JSON_BYTES = 112;

/** The most that an entry takes in a listing's JSON. */
export const entryJsonBytes = ({ name }: FileEntry): number => ENTRY_JSON_BYTES + jsonBytes(name);

const HOME = '/workspace';

/** Parses a path: below the home, or absolute and inside it. `..` is refused, since its meaning depends on links. */
export function parseFilePath(
  text: string,
): Result<FilePath, { readonly code: 'validation_failed'; readonly fields: FieldFaults }> {
  const fault = (words: string) => refuse({ code: 'validation_failed' as const, fields: { path: words } });
  if (text.includes('\0') || !text.isWellFormed()) return fault('has characters that are not allowed');
  if (Buffer.byteLength(text) > FILE_LIMITS.pathBytes) return fault('is too long');
  const isAbsolute = text.startsWith('/');
  if (isAbsolute && text !== HOME && !text.startsWith(`${HOME}/`)) return fault(`must be inside ${HOME}`);
  const names = (isAbsolute ? text.slice(HOME.length) : text)
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return fault('must not contain ..');
  if (names.length > FILE_LIMITS.depth) return fault(`is deeper than ${FILE_LIMITS.depth} folders`);
  if (names.some((name) => Buffer.byteLength(name) > FILE_LIMITS.nameBytes))
    return fault('has a name that is too long');
  return ok(names);
}

/** A path that can be written or removed: anything but the home itself. */
export function parseTarget(text: string): ReturnType<typeof parseFilePath> {
  const parsed = parseFilePath(text);
  if (parsed.ok && parsed.value.length === 0) {
    return refuse({
      code: 'validation_failed',
      fields: { path: 'must name something inside the workspace' },
    });
  }
  return parsed;
}

/** The absolute path that clients see. */
export const pathText = (path: FilePath): string => [HOME, ...path].join('/');

/** What to look for in files. */
export type SearchQuery = {
  readonly pattern: string;
  /** Extended regular expression; else the pattern's own characters. */
  readonly isRegex: boolean;
  /** Letters of ASCII match in either case. */
  readonly ignoresCase: boolean;
  /** Names of files, such as `*.ts`. */
  readonly include: string;
};

export const SEARCH_LIMITS = {
  patternBytes: 1_000,
  seconds: 20,
  matches: 10_000,
  defaultMatches: 1_000,
  /** All matches as JSON. */
  jsonBytes: 1_048_576,
  /** Entries of a watched folder. */
  watched: 50_000,
} as const;

/** Lines are searched one by one, so a pattern with a line end would never match. */
export function searchFaults({ pattern, include }: SearchQuery): FieldFaults {
  const faults: Record<string, string> = {};
  for (const [field, text] of [
    ['pattern', pattern],
    ['include', include],
  ] as const) {
    if (/[\0\n\r]/.test(text) || !text.isWellFormed()) faults[field] = 'has characters that are not allowed';
    else if (text === '') faults[field] = 'must not be empty';
    else if (Buffer.byteLength(text) > SEARCH_LIMITS.patternBytes) faults[field] = 'is too long';
  }
  return faults;
}

const ESCAPES_CLASSES_LETTERS = /\\[WSB\\]|\[:(?:upper|lower):\]|[A-Z]/g;

/** What to look for in lines whose ASCII letters are small: `\W` and the like keep their meaning. */
export function smallPattern({ pattern, isRegex }: SearchQuery): string {
  if (!isRegex) return smallLetters(pattern);
  return pattern.replace(ESCAPES_CLASSES_LETTERS, (found) => {
    if (found.startsWith('\\')) return found;
    return found.startsWith('[') ? '[:alpha:]' : found.toLowerCase();
  });
}

export const smallLetters = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
