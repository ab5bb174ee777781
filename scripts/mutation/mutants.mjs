import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

/**
 * `line` counts from 1. `text` is the line where it begins, `changed` that line after the mutation.
 * @typedef {{ id: string, file: string, line: number, operator: string, text: string, original: string,
 *   replacement: string, changed: string }} Mutant
 */

const LOG_LEVELS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/**
 * Log lines and error messages are for people: no test should pin them.
 * @type {{ name: string, shouldIgnore: (path: any) => string | undefined }}
 */
const words = {
  name: 'words',
  shouldIgnore({ node }) {
    const { callee } = node;
    if (node.type === 'NewExpression' && callee.type === 'Identifier' && /Error$/.test(callee.name))
      return 'words';
    if (node.type !== 'CallExpression' || callee.type !== 'MemberExpression') return undefined;
    const of = callee.object.name ?? callee.object.property?.name;
    return LOG_LEVELS.has(callee.property.name) && /^log(ger)?$/.test(of) ? 'words' : undefined;
  },
};

/** The instrumenter's log is not needed. */
const quiet = new Proxy({}, { get: () => () => false });

/**
 * Writes each file with all its mutants to `code`, as JavaScript.
 * @param {string} root
 * @param {string} code
 * @param {readonly string[]} files
 * @returns {Promise<Mutant[]>}
 */
export async function mutate(root, code, files) {
  const { Instrumenter } = await load('@stryker-mutator/instrumenter');
  const sources = new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
  const inputs = [...sources].map(([name, content]) => ({ name, content, mutate: true }));
  const options = { plugins: null, excludedMutations: [], ignorers: [words] };
  /** @type {{ files: { name: string, content: string }[], mutants: Raw[] }} */
  const made = await new Instrumenter(quiet).instrument(inputs, options);
  rmSync(code, { recursive: true, force: true });
  for (const { name, content } of made.files) {
    const target = path.join(code, `${name}.mjs`);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, stripTypeScriptTypes(content, { mode: 'strip' }));
  }
  return made.mutants
    .filter(({ status }) => status !== 'Ignored')
    .map((mutant) => described(mutant, sources.get(mutant.fileName) ?? ''));
}

/**
 * Stryker's form: positions count from 0.
 * @typedef {{ line: number, column: number }} Position
 * @typedef {{ id: string, fileName: string, mutatorName: string, replacement: string, status?: string,
 *   location: { start: Position, end: Position } }} Raw
 */

/**
 * @param {Raw} raw
 * @param {string} source
 * @returns {Mutant}
 */
function described({ id, fileName, mutatorName, replacement, location: { start, end } }, source) {
  const lines = source.split('\n');
  const text = lines[start.line] ?? '';
  /** @param {Position} position */
  const offset = ({ line, column }) =>
    lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, column);
  const original = source.slice(offset(start), offset(end));
  const changed = text.slice(0, start.column) + replacement + (lines[end.line] ?? '').slice(end.column);
  return {
    id,
    file: fileName,
    line: start.line + 1,
    operator: mutatorName,
    text,
    original,
    replacement,
    changed,
  };
}

/**
 * Loads one of this folder's own dependencies, which the service and its usual tests do not have.
 * @param {string} name
 * @returns {Promise<any>}
 */
const load = (name) => import(createRequire(import.meta.url).resolve(name));
