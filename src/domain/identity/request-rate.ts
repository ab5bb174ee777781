/**
 * Requests in a sliding minute, from two counts: this calendar minute's, and the share of the previous one that the
 * sliding minute still covers, as if its requests had been spread evenly.
 */
export type RequestTally = {
  readonly minute: number;
  readonly count: number;
  readonly countBefore: number;
};

const MINUTE_MS = 60_000;

export const minuteOf = (nowMs: number): number => Math.floor(nowMs / MINUTE_MS);

/** The tally in `minute`. An earlier minute counts as the tally's own. */
export function rolled(tally: RequestTally, minute: number): RequestTally {
  const passed = minute - tally.minute;
  if (passed <= 0) return tally;
  return { minute, count: 0, countBefore: passed === 1 ? tally.count : 0 };
}

/** A body counts as another request per this many bytes: parsing takes the service's only thread. */
const BYTES_OF_A_REQUEST = 65_536;

export const requestCost = (bodyBytes: number): number => 1 + Math.floor(bodyBytes / BYTES_OF_A_REQUEST);

/** Milliseconds until another request fits below `limit`; 0 for now. The tally is for the minute of `nowMs`. */
export function waitMs({ count, countBefore, minute }: RequestTally, limit: number, nowMs: number): number {
  const into = Math.max(0, nowMs - minute * MINUTE_MS);
  if (count < limit) return Math.max(0, whenFits(countBefore, limit - count) - into);
  // Not in this minute: in the next one, this minute's count fades too.
  return MINUTE_MS - into + whenFits(count, limit);
}

/** Milliseconds into a minute until the rest of the earlier count and one request fit into `room`. */
function whenFits(earlier: number, room: number): number {
  const left = room - 1;
  return earlier <= left ? 0 : Math.ceil((MINUTE_MS * (earlier - left)) / earlier);
}

/** How requests without a credential are counted: by address, for IPv6 by /64, the smallest range of one customer. */
export function addressGroup(ipAddress: string): string {
  if (!ipAddress.includes(':')) return ipAddress;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ipAddress)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = ipAddress.toLowerCase().split('%', 1)[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
