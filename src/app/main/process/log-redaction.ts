/** Paths of log lines that may hold a secret, never written. */
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
