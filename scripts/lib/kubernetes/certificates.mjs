import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';
import { API_ADDRESSES, API_NAMES } from './addresses.mjs';

/** A cluster lives for one run, so days are more than enough. */
const DAYS = '7';

/**
 * Keys, certificates and tokens of one cluster.
 * @typedef {{ authority: string, serverKey: string, serverCertificate: string, accountKey: string, tokens: string,
 *   adminToken: string }} Credentials
 */

/**
 * Makes them in `folder`, with the openssl of the machine.
 * @param {string} folder
 * @returns {Promise<Credentials>}
 */
export async function makeCredentials(folder) {
  const file = (/** @type {string} */ name) => path.join(folder, name);
  const names = [...API_NAMES.map((name) => `DNS:${name}`), ...API_ADDRESSES.map((each) => `IP:${each}`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', DAYS];
  await openssl(
    'req',
    '-x509',
    ...key,
    '-subj',
    '/CN=kubernetes',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.crt'),
  );
  const signed = [
    '-CA',
    file('ca.crt'),
    '-CAkey',
    file('ca.key'),
    '-addext',
    `subjectAltName=${names.join(',')}`,
  ];
  const server = ['-keyout', file('server.key'), '-out', file('server.crt')];
  await openssl('req', '-x509', ...key, ...signed, '-subj', '/CN=kube-apiserver', ...server);
  await openssl('genrsa', '-out', file('accounts.key'), '2048');
  const adminToken = randomBytes(24).toString('hex');
  writeFileSync(file('tokens.csv'), `${adminToken},admin,admin,system:masters\n`, { mode: 0o600 });
  return {
    authority: file('ca.crt'),
    serverKey: file('server.key'),
    serverCertificate: file('server.crt'),
    accountKey: file('accounts.key'),
    tokens: file('tokens.csv'),
    adminToken,
  };
}

/**
 * The text of a kubeconfig, as JSON, which is YAML too.
 * @param {{ server: string, authority: string, token: string, namespace?: string }} access
 */
export function kubeconfig({ server, authority, token, namespace = 'default' }) {
  const data = readFileSync(authority).toString('base64');
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data } }],
      users: [{ name: 'test', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
      'current-context': 'test',
    },
    null,
    2,
  );
}

/** @param {readonly string[]} args */
async function openssl(...args) {
  const { code, output } = await capture('openssl', args, { cwd: '/' });
  if (code !== 0) throw new Fault(`openssl ${args[0]} failed: ${output}`);
}
