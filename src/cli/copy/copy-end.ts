import { usageError } from '../cli-error.ts';

/** One end of a copy, as the command line names it. */
export type CopyEnd =
  | { readonly kind: 'container'; readonly container: string; readonly path: string }
  | { readonly kind: 'local'; readonly path: string }
  /** Standard input or output. */
  | { readonly kind: 'stream' };

/** The id of an agent has a colon itself. */
const IN_CONTAINER = /^(agent:[0-9a-f-]{36}|[^/:]*):(.*)$/s;

/** `dev:src` is in a container; `./a:b`, with a slash before the colon, is here; `-` is standard input or output. */
export function copyEnd(text: string): CopyEnd {
  if (text === '') throw usageError('An empty name is no file.');
  if (text === '-') return { kind: 'stream' };
  const [, container, path = ''] = IN_CONTAINER.exec(text) ?? [];
  if (container === undefined) return { kind: 'local', path: text };
  if (container === '') throw usageError(`Name the container before the colon: dev${text}`);
  return { kind: 'container', container, path };
}

/** The path with a name below it. */
export const below = (folder: string, name: string): string =>
  folder === '' || folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;

/** Whether the path ends in a slash or names the workspace, so that it can only be a folder. */
export const isFolderName = (path: string): boolean => /(^|\/)\.?$/.test(path);

/** The last name of a path in a container; empty when it means the content of a folder: `src/.`, or the workspace. */
export function lastName(path: string): string {
  if (/(^|\/)\.$/.test(path)) return '';
  const names = path.split('/').filter((name) => name !== '');
  return path.startsWith('/') && names.length === 1 ? '' : (names.at(-1) ?? '');
}
