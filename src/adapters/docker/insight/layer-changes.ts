import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type Docker from 'dockerode';
import {
  debianNames,
  type LayerChanges,
  type PathChange,
} from '../../../domain/containers/layer/layer-changes.ts';
import { isOfTheLayer } from '../../../domain/containers/layer/loss-report.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { inTime } from '../../scripts/exec/in-time.ts';
import { startScript } from '../../scripts/exec/script-process.ts';
import { DEBIAN, debianPackagesOf } from '../../scripts/insight/debian-packages.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { dockerPrograms } from '../exec/container-programs.ts';
import { engineStream } from '../exec/engine-stream.ts';

/** The most entries kept: the list is in memory, at a hundred bytes per path. */
const MAX_LISTED = 50_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_PACKAGES = 2000;
/** For each of the container's own answers. */
const ANSWER_SECONDS = 20;
const FOLDER_BITS = 0o040000;
const KIND_BITS = 0o170000;

const KINDS: readonly PathChange['kind'][] = ['changed', 'added', 'removed'];

/** Prints \`mode blocks path//\` for each path on its input; no path contains two slashes in a row. */
const MEASURE = `exec xargs -0 stat -c '%f %b %n//'`;

/** All differences from the image; of a running container also sizes and packages. */
export async function layerChanges(calls: EngineCalls, id: string): Promise<LayerChanges> {
  const { layerBytes, isRunning, upper } = await layerOf(calls, id);
  // The engine compares all files with the image, which takes a third of a second even without changes.
  if (upper !== null && (await isUntouched(upper)))
    return { paths: [], complete: true, layerBytes, debian: isRunning ? [] : null };
  const list = await changeList(calls, id);
  if (!isRunning) return { ...list, layerBytes, debian: null };
  const measurement = await measured(calls, id, list.paths).catch(() => UNMEASURABLE);
  const paths = list.paths.map((each) => ({ ...each, ...measurement.sizes.get(each.path) }));
  const complete = list.complete && measurement.complete;
  const names = [...debianNames(list.paths).keys()].slice(0, MAX_PACKAGES);
  const debian = await packages(calls, id, names).catch(() => null);
  return { paths, complete, layerBytes, debian };
}

type Size = Pick<PathChange, 'sizeBytes' | 'isFolder'>;

type Measurement = {
  readonly sizes: ReadonlyMap<string, Size>;
  /** False when it ended before its last path. */
  readonly complete: boolean;
};

/** Of a container without a shell: no later request would know more. */
const UNMEASURABLE: Measurement = { sizes: new Map(), complete: true };

type Sized = Docker.ContainerInspectInfo & {
  readonly SizeRw?: number;
  readonly GraphDriver?: { readonly Data?: { readonly UpperDir?: string } | null };
};

async function layerOf(
  calls: EngineCalls,
  id: string,
): Promise<{
  readonly layerBytes: number | null;
  readonly isRunning: boolean;
  readonly upper: string | null;
}> {
  const inspect = (size: boolean): Promise<Sized> =>
    calls.read(LIMITS.list, (abortSignal) => {
      const options = { size, abortSignal };
      return calls.docker.getContainer(id).inspect(options);
    });
  // Measuring a large layer may take too long.
  const info = await calls.work.size(id, () => inspect(true)).catch(() => inspect(false));
  const upper = info.GraphDriver?.Data?.UpperDir ?? null;
  return { layerBytes: info.SizeRw ?? null, isRunning: info.State.Running, upper };
}

/**
 * Whether a container's layer, a folder of the engine's machine, has only folders and the engine's own files. False
 * also when it is unreadable: then the engine is asked.
 */
async function isUntouched(upper: string): Promise<boolean> {
  try {
    for await (const entry of await opendir(upper, { recursive: true })) {
      if (entry.isDirectory()) continue;
      if (isOfTheLayer(path.join(entry.parentPath, entry.name).slice(upper.length))) return false;
    }
    return true;
  } catch {
    return false;
  }
}

type ChangeList = { readonly paths: readonly PathChange[]; readonly complete: boolean };

/** When the engine takes too long, the list is empty and not complete. */
async function changeList(calls: EngineCalls, id: string): Promise<ChangeList> {
  try {
    return await listed(await engineStream(calls, `/containers/${id}/changes`), MAX_LISTED);
  } catch (error) {
    if (!(error instanceof RuntimeUnavailable)) throw error;
    await calls.ping();
    return { paths: [], complete: false };
  }
}

/** The first `most` entries of the engine's list, read incrementally, so that no piece blocks the service for long. */
export async function listed(answer: AsyncIterable<Buffer>, most: number): Promise<ChangeList> {
  const paths: PathChange[] = [];
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of answer) {
    rest += decoder.write(chunk);
    // Quotes in paths are escaped, so this is between two entries.
    const end = rest.lastIndexOf('},{"') + 1;
    if (end > 0) {
      for (const each of parsed(rest.slice(0, end))) paths.push(each);
      rest = rest.slice(end + 1);
    }
    if (paths.length > most) return { paths: paths.slice(0, most), complete: false };
  }
  const last = rest.trimEnd();
  // A truncated list keeps its complete entries.
  if (!last.endsWith(']') && last !== 'null') return { paths, complete: false };
  for (const each of parsed(last.replace(/\]$/, ''))) paths.push(each);
  return { paths: paths.slice(0, most), complete: paths.length <= most };
}

/** Entries separated by commas, the first after a bracket. */
function parsed(text: string): readonly PathChange[] {
  const entries = JSON.parse(text === 'null' ? '[]' : `[${text.replace(/^\[/, '')}]`) as readonly {
    readonly Path: string;
    readonly Kind: number;
  }[];
  return entries.map(({ Path, Kind }) => ({
    path: Path,
    kind: KINDS[Kind] ?? 'changed',
    sizeBytes: null,
    isFolder: false,
  }));
}

/** The sizes of the changed paths: what has come when the container takes too long. */
async function measured(
  calls: EngineCalls,
  id: string,
  changes: readonly PathChange[],
): Promise<Measurement> {
  const there = changes.filter(({ kind }) => kind !== 'removed');
  const run = await startScript(dockerPrograms(calls), id, { script: MEASURE, args: [], stdin: true });
  const sizes = new Map<string, Size>();
  try {
    const feeding = run.feed(
      Readable.from(there.map(({ path }) => Buffer.from(`${path}\0`))),
      MAX_OUTPUT_BYTES,
    );
    feeding.catch(() => {});
    const complete = await inTime(readSizes(run.rest(), sizes), ANSWER_SECONDS, run.end);
    return { sizes, complete };
  } catch {
    return { sizes: new Map(sizes), complete: false };
  } finally {
    await run.end();
  }
}

/** Adds what comes to `sizes`; false when there is more than may be read. */
async function readSizes(output: AsyncIterable<Buffer>, sizes: Map<string, Size>): Promise<boolean> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let left = MAX_OUTPUT_BYTES;
  for await (const chunk of output) {
    const records = (rest + decoder.write(chunk)).split('//\n');
    rest = records.pop() ?? '';
    for (const [path, size] of records.flatMap(sizeOf)) sizes.set(path, size);
    left -= chunk.length;
    if (left < 0) return false;
  }
  return true;
}

function sizeOf(record: string): [string, Size][] {
  const [, mode = '', blocks = '', path = ''] = /^([0-9a-f]+) (\d+) (\/.*)$/s.exec(record) ?? [];
  if (path === '') return [];
  const isFolder = (Number.parseInt(mode, 16) & KIND_BITS) === FOLDER_BITS;
  return [[path, { sizeBytes: Number(blocks) * 512, isFolder }]];
}

async function packages(
  calls: EngineCalls,
  id: string,
  names: readonly string[],
): Promise<LayerChanges['debian']> {
  if (names.length === 0) return [];
  const run = await startScript(dockerPrograms(calls), id, { script: DEBIAN, args: names });
  try {
    return await inTime(debianPackagesOf(run.rest(), MAX_OUTPUT_BYTES), ANSWER_SECONDS, run.end);
  } finally {
    await run.end();
  }
}
