import { setTimeout as delay } from 'node:timers/promises';
import {
  type FilePath,
  type SearchQuery,
  smallLetters,
  smallPattern,
} from '../../../../domain/containers/files.ts';
import { ok, refuse } from '../../../../domain/result.ts';
import type { RuntimeHandle } from '../../../../ports/containers/container-runtime.ts';
import type {
  FileChange,
  FileChanges,
  FileMatch,
  FileSearch,
} from '../../../../ports/containers/inside/file-search.ts';
import type { File, Node } from './file-tree.ts';

const CHECK_EVERY_MS = 10;

type Find = (handle: RuntimeHandle, path: FilePath) => Promise<Node | undefined>;

/** Searches a tree in memory. Names are matched as `*`, `*.ending` or whole. */
export const memoryFileSearch = (find: Find): FileSearch => ({
  async search(handle, path, query) {
    const node = await find(handle, path);
    if (node === undefined) return refuse({ code: 'file_not_found' });
    if (query.isRegex && !isRegex(query.pattern)) return refuse({ code: 'pattern_invalid' });
    const found = [...filesIn(node, path)].flatMap(([at, file]) => matchesIn(at, file, query));
    return ok({ items: each([...found, 'complete']), end: async () => {} });
  },

  async watch(handle, path, { isRecursive, maxEntries }) {
    const node = await find(handle, path);
    if (node === undefined) return refuse({ code: 'file_not_found' });
    if (node.kind === 'file') return refuse({ code: 'file_special' });
    const ending = new AbortController();
    const scan = async (): Promise<Map<string, Node>> => {
      const now = await find(handle, path);
      return new Map(now === undefined ? [] : entriesIn(now, path, isRecursive));
    };
    return ok({ items: rounds(scan, maxEntries, ending.signal), end: async () => ending.abort() });
  },
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function isRegex(pattern: string): boolean {
  try {
    return new RegExp(pattern).source !== '';
  } catch {
    return false;
  }
}

function* filesIn(node: Node, path: FilePath): Generator<[FilePath, File]> {
  if (node.kind === 'file') return yield [path, node];
  for (const [name, each] of node.inside) yield* filesIn(each, [...path, name]);
}

function matchesIn(path: FilePath, { content }: File, query: SearchQuery): FileMatch[] {
  const { isRegex, ignoresCase, include } = query;
  const pattern = ignoresCase ? smallPattern(query) : query.pattern;
  const name = path.at(-1) ?? '';
  if (include !== '*' && include !== name && !(include.startsWith('*.') && name.endsWith(include.slice(1))))
    return [];
  return content
    .toString()
    .split('\n')
    .flatMap((text, index) => {
      const line = ignoresCase ? smallLetters(text) : text;
      const at = isRegex ? line.search(new RegExp(pattern)) : line.indexOf(pattern);
      return at < 0 ? [] : [{ path, line: index + 1, column: at + 1, text: text.slice(0, 1_000) }];
    });
}

function* entriesIn(node: Node, path: FilePath, isRecursive: boolean): Generator<[string, Node]> {
  if (node.kind === 'file') return;
  for (const [name, each] of node.inside) {
    yield [[...path, name].join('/'), each];
    if (isRecursive) yield* entriesIn(each, [...path, name], true);
  }
}

async function* rounds(
  scan: () => Promise<Map<string, Node>>,
  maxEntries: number,
  signal: AbortSignal,
): AsyncGenerator<FileChanges> {
  let before: Map<string, Node> | null = null;
  while (!signal.aborted) {
    const now = await scan();
    if (now.size > maxEntries) return yield { kind: 'too_many' };
    yield { kind: 'changes', changes: before === null ? [] : differences(before, now) };
    before = now;
    await delay(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function differences(before: ReadonlyMap<string, Node>, now: ReadonlyMap<string, Node>): FileChange[] {
  const change = (type: FileChange['type'], path: string): FileChange => ({ type, path: path.split('/') });
  return [
    ...[...now.keys()].filter((path) => !before.has(path)).map((path) => change('created', path)),
    ...[...now]
      .filter(([path, node]) => node.kind === 'file' && before.has(path) && before.get(path) !== node)
      .map(([path]) => change('changed', path)),
    ...[...before.keys()].filter((path) => !now.has(path)).map((path) => change('removed', path)),
  ];
}
