import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from './command.mjs';
import { sha256, sha256OfFile } from './digest.mjs';
import { Fault } from './fault.mjs';
import { modernNode, toolEnvironment } from './node.mjs';
import { recordOf } from './unchanged/passed.mjs';
import { isSetting, readTree } from './unchanged/tree.mjs';

/** @typedef {import('./unchanged/tree.mjs').Tree} Tree */

const CLIENT = path.join('src', 'client');
const PRINTER = path.join('test', 'support', 'service', 'print-open-api.ts');
const GENERATOR = path.join('scripts', 'lib', 'api-types.mjs');
/** The client's types of the API document. */
export const API_TYPES = path.join('src', 'client', 'generated', 'openapi.d.ts');
const GOOD_ANSWERS = path.join('.tap', 'openapi-good-answers.json');

/** The API document of a service in memory, as `writeApiTypes` left it. */
export const DOCUMENT = path.join('.tap', 'openapi.json');

const OUTPUTS = [API_TYPES, DOCUMENT];

/**
 * Writes the API document, and the client's types of it, unless they are up to date. Does nothing in a tree without
 * the client; one with it, but without the printer of the document, is not complete.
 * @param {string} root
 * @param {Tree | null} [tree] The present files, if they were read already.
 */
export async function writeApiTypes(root, tree) {
  if (!existsSync(path.join(root, CLIENT))) return;
  if (!existsSync(path.join(root, PRINTER)))
    throw new Fault(`The types of ${CLIENT} need ${PRINTER}, which is missing`);
  const inputs = inputsOf(tree === undefined ? await readTree(root) : tree);
  const record = recordOf(root, 'API types');
  const known = record.read();
  const isSame = OUTPUTS.every((name) => known.get(name) === digestOf(path.join(root, name)));
  if (isSame && inputs !== null && known.get(PRINTER) === inputs) return;
  await write(root);
  if (inputs === null) return record.write([]);
  // why: a new clone may take the record from one process, and a file from another
  record.write([[PRINTER, inputs], ...OUTPUTS.map((name) => withDigest(root, name))]);
}

/**
 * All files that the printer loads, with the settings and this generator.
 * @param {Tree | null} tree
 */
const inputsOf = (tree) =>
  tree?.digest([...tree.reachedFrom(PRINTER), GENERATOR, ...tree.files.filter(isSetting)]) ?? null;

/**
 * Null where there is no such file.
 * @param {string} file
 */
const digestOf = (file) => (existsSync(file) ? sha256OfFile(file) : null);

/**
 * @param {string} root
 * @param {string} name
 * @returns {[string, string]}
 */
const withDigest = (root, name) => [name, digestOf(path.join(root, name)) ?? ''];

/** @param {string} root */
async function write(root) {
  const printed = await capture(modernNode(root), [PRINTER], { cwd: root });
  if (printed.code !== 0) throw new Fault(`${printed.output}\nPrinting the API document failed`);
  const digest = sha256(printed.stdout);
  if (digestOf(path.join(root, DOCUMENT)) !== digest) replace(root, DOCUMENT, printed.stdout);
  const stamp = `// of ${digest}\n`;
  if (firstLineOf(path.join(root, API_TYPES)) === stamp) return;
  replace(root, API_TYPES, stamp + (await typesOf(root, printed.stdout)));
}

/**
 * Errors are left out: the client throws them, all in one form.
 * @param {string} root
 * @param {string} document
 */
async function typesOf(root, document) {
  replace(root, GOOD_ANSWERS, JSON.stringify(withoutErrors(JSON.parse(document))));
  const args = [GOOD_ANSWERS, '--default-non-nullable=false'];
  const { code, stdout, output } = await capture('openapi-typescript', args, {
    cwd: root,
    env: toolEnvironment(root),
  });
  if (code !== 0) throw new Fault(`${output}\nGenerating types of the API document failed`);
  return stdout;
}

/** @param {{ paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>, components: object }} document */
function withoutErrors(document) {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  for (const { responses } of operations)
    for (const status of Object.keys(responses ?? {})) if (Number(status) >= 400) delete responses?.[status];
  return { ...document, components: { ...document.components, responses: {} } };
}

/** @param {string} file */
function firstLineOf(file) {
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  return text.slice(0, text.indexOf('\n') + 1);
}

/**
 * Whole or not at all: another process may be reading.
 * @param {string} root
 * @param {string} name
 * @param {string} text
 */
function replace(root, name, text) {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
