import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { EVENTS_PROTOCOL } from '../../protocol/subprotocols.ts';
import { USER_AGENT } from '../version.ts';
import { causeWords } from './cause-words.ts';

export type Upgrade =
  | { readonly kind: 'upgraded' }
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly words: string };

const LIMIT_MS = 10_000;

/** Asks for a WebSocket and says what came back: with a library, a proxy's answer would only be an error. */
export function tryUpgrade(server: string, token: string): Promise<Upgrade> {
  const url = new URL('/api/events', server);
  const headers = {
    authorization: `Bearer ${token}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': EVENTS_PROTOCOL,
    'user-agent': USER_AGENT,
  };
  const { get } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const request = get(url, { headers, timeout: LIMIT_MS });
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ kind: 'upgraded' });
    });
    request.once('response', (response) => {
      response.destroy();
      resolve({ kind: 'answered', status: response.statusCode ?? 0 });
    });
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', (error) => resolve({ kind: 'failed', words: causeWords(error) }));
  });
}
