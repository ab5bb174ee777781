import type { CloseReason } from '../domain/terminals/terminal.ts';

/** Why this service closes a socket; these words are sent. */
export type SocketCloseReason = CloseReason | 'failed to read events' | 'too much input';

export const CLOSE_CODES: { readonly [R in SocketCloseReason]: number } = {
  'input gap': 1008,
  'too much input': 1008,
  ended: 1000,
  replaced: 1000,
  unauthorized: 4001,
  'collaboration ended': 4003,
  'container deleted': 4004,
  'too slow': 4008,
  'container stopped': 4009,
  'container restarted': 4010,
  'failed to open terminal': 1011,
  'try again later': 1013,
  'service restarting': 4012,
  detached: 4013,
  'too many processes': 4014,
  'container unresponsive': 4015,
  'failed to read events': 1011,
};
