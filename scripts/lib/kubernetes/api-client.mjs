import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

/**
 * As much of a client as the test cluster needs, without a dependency.
 * @param {string} server
 * @param {{ authority: string, adminToken: string }} credentials
 */
export function apiClient(server, { authority, adminToken }) {
  const agent = new Agent({ ca: readFileSync(authority), keepAlive: true });
  const headers = { authorization: `Bearer ${adminToken}`, accept: 'application/json' };

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<import('node:http').IncomingMessage>}
   */
  const open = (method, path, body) =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const call = request(`${server}${path}`, {
        method,
        agent,
        headers: { ...headers, 'content-type': type },
      });
      call.once('response', resolve).once('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });

  /** @param {string} method @param {string} path @param {unknown} [body] */
  const text = async (method, path, body) => {
    const response = await open(method, path, body);
    response.setEncoding('utf8');
    let all = '';
    for await (const chunk of response) all += chunk;
    const status = response.statusCode ?? 0;
    if (status >= 300) throw Object.assign(new Error(`${method} ${path}: ${status} ${all}`), { status });
    return all;
  };

  return {
    /** @param {string} path */
    text: (path) => text('GET', path),
    /** @param {string} path @returns {Promise<any>} */
    get: async (path) => JSON.parse(await text('GET', path)),
    /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
    send: async (method, path, body) => JSON.parse(await text(method, path, body)),
    /** @param {string} path */
    open: (path) => open('GET', path),
  };
}

/** @typedef {ReturnType<typeof apiClient>} ApiClient */
