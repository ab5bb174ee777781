import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeAuthority, makeCertificate, openssl } from '../namespaces/certificates.mjs';
import { API_ADDRESSES, API_NAMES } from './addresses.mjs';

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
  const names = [...API_NAMES.map((name) => `DNS:${name}`), ...API_ADDRESSES.map((each) => `IP:${each}`)];
  const authority = await makeAuthority(folder, 'kubernetes');
  const server = await makeCertificate(authority, folder, { file: 'server', name: 'kube-apiserver', names });
  const accountKey = path.join(folder, 'accounts.key');
  await openssl('genrsa', '-out', accountKey, '2048');
  const adminToken = randomBytes(24).toString('hex');
  const tokens = path.join(folder, 'tokens.csv');
  writeFileSync(tokens, `${adminToken},admin,admin,system:masters\n`, { mode: 0o600 });
  return {
    authority: authority.certificate,
    serverKey: server.key,
    serverCertificate: server.certificate,
    accountKey,
    tokens,
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
