import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** No caller needs more, and no reader keeps more in mind. */
const MAX_METHODS = 10;

/** @typedef {{ name: string, file: string, own: number, extended: string[] }} Port */

/**
 * Checks how many methods each port has, those of the ports that it extends included. A type that joins ports for a
 * caller is none itself.
 * @param {string} root
 * @returns {Promise<{ ok: boolean, report: string }>}
 */
export async function checkPorts(root) {
  const folder = path.join(root, 'src', 'ports');
  const files = readdirSync(folder, { recursive: true }).map(String);
  const found = await Promise.all(
    files.filter((file) => file.endsWith('.ts')).map((file) => portsIn(folder, file)),
  );
  const ports = new Map(found.flat().map((port) => [port.name, port]));
  /** @type {(name: string) => number} */
  const methodsOf = (name) => {
    const port = ports.get(name);
    return port === undefined ? 0 : port.extended.reduce((sum, each) => sum + methodsOf(each), port.own);
  };
  const large = [...ports.values()].filter(({ name }) => methodsOf(name) > MAX_METHODS);
  const report = large.map(
    ({ name, file }) => `src/ports/${file}: ${name} has ${methodsOf(name)} methods, more than ${MAX_METHODS}`,
  );
  if (large.length > 0) return { ok: false, report: report.join('\n') };
  return { ok: ports.size > 0, report: `${ports.size} ports of at most ${MAX_METHODS} methods` };
}

/**
 * @param {string} folder
 * @param {string} file
 * @returns {Promise<Port[]>}
 */
async function portsIn(folder, file) {
  // Loaded late: it is large, and a run of tests needs this file without it.
  const { default: ts } = await import('typescript');
  /** @param {import('typescript').TypeElement} member */
  const isMethod = (member) =>
    ts.isMethodSignature(member) ||
    (ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type));
  const text = readFileSync(path.join(folder, file), 'utf8');
  /** @type {Port[]} */
  const ports = [];
  for (const one of ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements) {
    if (ts.isInterfaceDeclaration(one)) {
      const extended = (one.heritageClauses ?? []).flatMap(({ types }) =>
        types.map(({ expression }) => (ts.isIdentifier(expression) ? expression.text : '')),
      );
      ports.push({ name: one.name.text, file, own: one.members.filter(isMethod).length, extended });
    } else if (ts.isTypeAliasDeclaration(one) && ts.isTypeLiteralNode(one.type)) {
      const own = one.type.members.filter(isMethod).length;
      if (own > 0) ports.push({ name: one.name.text, file, own, extended: [] });
    }
  }
  return ports;
}
