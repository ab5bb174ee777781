import { readFileSync } from 'node:fs';

/** Rights that only newer API servers ask for. */
const OF_NEWER_SERVERS = new Set(['create pods/exec']);

/**
 * @typedef {{ verb: string, objectRef?: { resource: string, subresource?: string, namespace?: string },
 *   responseStatus?: { code?: number } }} Request
 * @typedef {{ resources: readonly string[], verbs: readonly string[] }} Rule
 */

/**
 * Compares a role's rights with the requests of the account that has it.
 * @param {string} audit the file with a request per line
 * @param {readonly Rule[]} rules
 * @returns {{ unused: readonly string[], missing: readonly string[] }}
 */
export function compareRights(audit, rules) {
  const lines = readFileSync(audit, 'utf8').split('\n').filter(Boolean);
  const requests = lines.map((line) => /** @type {Request} */ (JSON.parse(line)));
  const asked = new Set(requests.map(rightOf));
  const refused = requests.filter(({ responseStatus }) => responseStatus?.code === 403).map(rightOf);
  const given = rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  return {
    unused: given.filter((right) => !asked.has(right) && !OF_NEWER_SERVERS.has(right)),
    // Over a quota is forbidden too, with the right.
    missing: [...new Set(refused)].filter((right) => !given.includes(right)),
  };
}

/** @param {Request} request */
function rightOf({ verb, objectRef }) {
  const { resource = '', subresource } = objectRef ?? {};
  return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
}
