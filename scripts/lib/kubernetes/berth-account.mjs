import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';

const BASE = 'docs/deploy/kubernetes/base';
const FILES = ['namespaces.yaml', 'rights.yaml'];
export const NAMESPACE = 'berth-containers';

/**
 * Gives the service its account and rights, as an installation does, and writes a kubeconfig with them: tests then show
 * which right is missing.
 * @param {string} root
 * @param {{ kubectl: string, kubeconfig: string, folder: string }} access `folder` is for the new kubeconfig
 * @returns {Promise<string>} the kubeconfig
 */
export async function berthAccount(root, { kubectl, kubeconfig, folder }) {
  const run = kubectlAt({ kubectl, kubeconfig }, root);
  await run('apply', ...FILES.flatMap((file) => ['--filename', path.join(root, BASE, file)]));
  const token = await run('create', 'token', 'berth', '--namespace=berth', '--duration=24h');
  const view = JSON.parse(await run('config', 'view', '--raw', '--minify', '--flatten', '--output=json'));
  const [context] = view.contexts;
  const own = {
    ...view,
    users: [{ name: context.context.user, user: { token: token.trim() } }],
    contexts: [{ ...context, context: { ...context.context, namespace: NAMESPACE } }],
  };
  const file = path.join(folder, 'kubeconfig-berth');
  writeFileSync(file, JSON.stringify(own, null, 2), { mode: 0o600 });
  return file;
}

/**
 * The rights that the account has.
 * @param {{ kubectl: string, kubeconfig: string }} access
 * @returns {Promise<readonly import('./rights.mjs').Rule[]>}
 */
export async function accountRules(access) {
  const role = await kubectlAt(access, '/')(
    'get',
    'role',
    'berth',
    `--namespace=${NAMESPACE}`,
    '--output=json',
  );
  return JSON.parse(role).rules;
}

/**
 * @param {{ kubectl: string, kubeconfig: string }} access
 * @param {string} cwd
 */
const kubectlAt =
  ({ kubectl, kubeconfig }, cwd) =>
  /** @param {readonly string[]} args */
  async (...args) => {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const { code, output, stdout } = await capture(kubectl, args, { cwd, env }).catch((error) => {
      throw new Fault(`cannot run kubectl: ${error.message}`);
    });
    if (code !== 0) throw new Fault(`kubectl ${args[0]} failed: ${output.trim()}`);
    return stdout;
  };
