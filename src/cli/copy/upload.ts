import { lstat, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Container } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type Copied, type CopyOptions, counted, patiently } from './copied.ts';
import { below, isFolderName } from './copy-end.ts';
import { onEach, type Walked, walk } from './walk.ts';

const AT_ONCE = 4;
/** Names of one command in the container. */
const NAMES_AT_ONCE = 50;

/** Copies a local file, or a folder with all below it, into a container. An existing folder gets it inside. */
export async function upload(
  { notify }: Pick<Cli, 'notify'>,
  container: Container,
  source: string,
  target: string,
  copied: Copied,
  options: CopyOptions,
): Promise<void> {
  const found = await lstat(source);
  if (found.isSymbolicLink())
    throw new CliError(`${source} is a symbolic link, which is not followed.`, {
      next: `To copy the folder that it leads to: ${source}/`,
    });
  const root = await rootIn(container, source, target);
  if (found.isFile()) {
    const isExecutable = (found.mode & 0o111) !== 0;
    await send(container, source, root, copied, { ...options, signal: new AbortController().signal });
    if (isExecutable) await inContainer(container, ['chmod', '+x', '--'], [root]);
    return;
  }
  if (!found.isDirectory()) throw new CliError(`${source} is neither a file nor a folder.`);
  await uploadFolder(container, source, root, walk(source, notify), copied, options);
}

async function uploadFolder(
  container: Container,
  source: string,
  root: string,
  content: AsyncIterable<Walked>,
  copied: Copied,
  options: CopyOptions,
): Promise<void> {
  const executable: string[] = [];
  const folders: string[] = [];
  await onEach(content, AT_ONCE, async (each, signal) => {
    const target = below(root, each.below);
    if (each.kind === 'empty folder') folders.push(target);
    else {
      await send(container, path.join(source, each.below), target, copied, { ...options, signal });
      if (each.isExecutable) executable.push(target);
    }
  });
  if (copied.files === 0 && folders.length === 0 && root !== '') folders.push(root);
  await inContainer(container, ['mkdir', '-p', '--'], folders);
  await inContainer(container, ['chmod', '+x', '--'], executable);
}

/** Copies standard input into a file of a container. */
export async function uploadStream(
  input: Readable,
  container: Container,
  target: string,
  copied: Copied,
  options: CopyOptions,
): Promise<void> {
  if (isFolderName(target)) throw usageError('Name the file that gets standard input.');
  await container.files.write(target, bodyOf(input, copied), options);
  copied.files += 1;
}

/** Where the source goes: into a folder that exists, else by the target's own name. */
async function rootIn(container: Container, source: string, target: string): Promise<string> {
  const isContent = /(^|[/\\])\.$/.test(source);
  const isInside = isFolderName(target) || (await container.files.kindOf(target)) === 'folder';
  return isInside && !isContent ? below(target, path.basename(path.resolve(source))) : target;
}

async function send(
  container: Container,
  source: string,
  target: string,
  copied: Copied,
  options: CopyOptions & { readonly signal: AbortSignal },
): Promise<void> {
  await patiently(async () => {
    const sent: Copied = { files: 0, bytes: 0 };
    // why: a file that cannot be read fails here, not as a broken request
    const content = (await open(source)).createReadStream();
    try {
      await container.files.write(target, bodyOf(content, copied, sent), options);
    } catch (failure) {
      copied.bytes -= sent.bytes;
      throw failure;
    } finally {
      content.destroy();
    }
  }, options.signal);
  copied.files += 1;
}

const bodyOf = (content: Readable, ...counts: readonly Copied[]): ReadableStream<Uint8Array> =>
  Readable.toWeb(
    Readable.from(counted(content, ...counts), { objectMode: false }),
  ) as ReadableStream<Uint8Array>;

/** What uploads cannot say: a program of the container does it, in the workspace. */
async function inContainer(
  container: Container,
  command: readonly string[],
  targets: readonly string[],
): Promise<void> {
  for (let at = 0; at < targets.length; at += NAMES_AT_ONCE) {
    const names = targets.slice(at, at + NAMES_AT_ONCE);
    const { exitCode, stderr } = await container.run([...command, ...names.map(inWorkspace)]);
    if (exitCode !== 0)
      throw new CliError(`The files are copied, but ${command[0]} failed: ${stderr.trim() || exitCode}`);
  }
}

const inWorkspace = (target: string): string => below('.', target.replace(/^\/workspace(\/|$)/, ''));
