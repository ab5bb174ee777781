/** Paths of a log line that may hold a secret; none of them is ever written. */
export const REDACTED = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["sec-websocket-protocol"]',
  'headers.authorization',
  'headers.cookie',
  'headers["sec-websocket-protocol"]',
  'password',
  'token',
  'refreshToken',
  '*.password',
  '*.token',
];
