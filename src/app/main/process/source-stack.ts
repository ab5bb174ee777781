import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { ROOT } from './root.ts';

/** A position in a built file of the service's own code, as stacks name it. */
const POSITION = /(file:\/\/[^\s()]+\/service-[\w-]+\.js):(\d+):(\d+)/g;

/**
 * Names the sources in the stack of an error of the built service. The maps are read at the first error that needs them:
 * `--enable-source-maps` would read them at each start.
 */
export function sourceStacks(): (stack: string) => string {
  const maps = new Map<string, SourceMap | null>();
  return (stack) =>
    stack.replaceAll(POSITION, (built: string, url: string, line: string, column: string) => {
      const file = fileURLToPath(url);
      if (!maps.has(file)) maps.set(file, readMap(file));
      const origin = maps.get(file)?.findOrigin(Number(line), Number(column));
      if (origin === undefined || !('fileName' in origin)) return built;
      const source = path.relative(ROOT, path.resolve(path.dirname(file), origin.fileName));
      return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
    });
}

/** For the field `err` of the log. A thrown value that is no error is logged unchanged. */
export function errorSerializer(): (thrown: unknown) => unknown {
  const inSources = sourceStacks();
  const ofErrors = pino.stdSerializers.wrapErrorSerializer((err) => ({
    ...err,
    stack: inSources(err.stack),
  }));
  return (thrown) => (thrown instanceof Error ? ofErrors(thrown) : thrown);
}

/** A missing map must not hide the error. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return null;
  }
}
