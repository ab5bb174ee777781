import path from 'node:path';
import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';

/** A cluster lives for one run, so days are more than enough. */
const DAYS = '7';
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', DAYS];

/** @typedef {{ key: string, certificate: string }} KeyPair The files of both. */

/**
 * Makes an authority in `folder`, with the openssl of the machine.
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<KeyPair>}
 */
export async function makeAuthority(folder, name) {
  const pair = filesOf(folder, 'ca');
  await request(pair, ['-subj', `/CN=${name}`]);
  return pair;
}

/**
 * Makes a certificate in `folder` by an authority.
 * @param {KeyPair} authority
 * @param {string} folder
 * @param {{ file: string, name: string, names?: readonly string[] }} subject `names`: as openssl has them, `IP:10.0.0.1`.
 * @returns {Promise<KeyPair>}
 */
export async function makeCertificate(authority, folder, { file, name, names = [] }) {
  const pair = filesOf(folder, file);
  const alternatives = names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : [];
  const signed = ['-CA', authority.certificate, '-CAkey', authority.key, ...alternatives];
  await request(pair, [...signed, '-subj', `/CN=${name}`]);
  return pair;
}

/** @param {string} folder @param {string} file */
const filesOf = (folder, file) => ({
  key: path.join(folder, `${file}.key`),
  certificate: path.join(folder, `${file}.crt`),
});

/** @param {KeyPair} pair @param {readonly string[]} args */
const request = ({ key, certificate }, args) =>
  openssl('req', '-x509', ...NEW_KEY, ...args, '-keyout', key, '-out', certificate);

/** @param {readonly string[]} args */
export async function openssl(...args) {
  const { code, output } = await capture('openssl', args, { cwd: '/' });
  if (code !== 0) throw new Fault(`openssl ${args[0]} failed: ${output}`);
}
