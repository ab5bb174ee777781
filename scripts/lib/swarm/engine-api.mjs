import { createReadStream } from 'node:fs';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/**
 * Calls an engine at its socket and returns its answer; throws its refusal.
 * @param {string} socketPath
 * @param {'GET' | 'POST' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function callEngine(socketPath, method, path, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  return await answerOf(
    { socketPath, method, path, headers: { 'content-type': 'application/json' } },
    (call) => Promise.resolve(call.end(text)),
  );
}

/**
 * Loads the archive of an image.
 * @param {string} socketPath
 * @param {string} file
 */
export async function loadImage(socketPath, file) {
  const headers = { 'content-type': 'application/x-tar' };
  await answerOf({ socketPath, method: 'POST', path: '/images/load?quiet=1', headers }, (call) =>
    pipeline(createReadStream(file), call),
  );
}

/**
 * @param {import('node:http').RequestOptions} options
 * @param {(call: import('node:http').ClientRequest) => Promise<unknown>} send
 */
async function answerOf(options, send) {
  const call = request(options);
  /** @type {Promise<import('node:http').IncomingMessage>} */
  const answered = new Promise((resolve, reject) => call.once('response', resolve).once('error', reject));
  const [answer] = await Promise.all([answered, send(call)]);
  const isText = !`${answer.headers['content-type']}`.includes('json');
  if (isText || answer.statusCode === 204) return void answer.resume();
  const body = /** @type {any} */ (await json(answer).catch(() => null));
  if ((answer.statusCode ?? 500) >= 400)
    throw new Error(`${options.method} ${options.path}: ${answer.statusCode} ${body?.message}`);
  return body;
}
