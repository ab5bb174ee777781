import type { ChannelHandlers } from '../../../src/protocol/agent/channel.ts';
import type { Channel, ChannelRequest, ChannelResult } from '../../../src/protocol/agent/index.ts';
import { Peer } from '../../../src/protocol/agent/index.ts';

export const shellRequest = (shell = 'main'): ChannelRequest => ({
  type: 'shell',
  shell,
  cols: 80,
  rows: 24,
  env: {},
  after: null,
  create: true,
  force_new: false,
  view: false,
});

export const COMMAND = {
  type: 'exec',
  command: ['true'],
  env: {},
  cwd: null,
  timeout_seconds: null,
  stdin: false,
  terminal: null,
} as const;

/** What one side of a channel has received. */
export type Inbox = {
  readonly handlers: ChannelHandlers;
  readonly bytes: Buffer[];
  readonly events: string[];
  /** Not yet reported as consumed, if the reader is slow. */
  unread: number;
};

export function inbox(channel: () => Channel | null, isSlow = false): Inbox {
  const box: Inbox = {
    bytes: [],
    events: [],
    unread: 0,
    handlers: {
      accepted: (reply) => box.events.push(`accepted ${reply.type}`),
      data: (_stream, bytes) => {
        box.bytes.push(Buffer.from(bytes));
        box.unread += bytes.length;
        if (!isSlow) read(box, channel());
      },
      ended: () => box.events.push('ended'),
      note: (note) => box.events.push(JSON.stringify(note)),
      finished: (result: ChannelResult) => box.events.push(JSON.stringify(result)),
      reset: ({ code }) => box.events.push(`reset ${code}`),
      room: () => {},
    },
  };
  return box;
}

/** The reader uses all that has arrived. */
export function read(box: Inbox, channel: Channel | null): void {
  const bytes = box.unread;
  box.unread = 0;
  channel?.consumed(bytes);
}

const REPLY = {
  type: 'shell',
  created: true,
  offset: 0,
  redraw: false,
  input_offset: 0,
  pid: 1,
  cols: 80,
  rows: 24,
  started_at: 0,
} as const;

/** Messages on their way in one direction. */
class Wire {
  readonly inFlight: Uint8Array[] = [];
  send = (message: Uint8Array): void => {
    this.inFlight.push(message);
  };
  get bufferedBytes(): number {
    return this.inFlight.reduce((sum, { length }) => sum + length, 0);
  }
}

export type Opened = { readonly service: Channel; readonly agent: () => Channel; near: Inbox; far: Inbox };

/** A session whose messages are delivered one by one, and whose line can be cut. */
export function session({ isSlow = false } = {}) {
  const agents: { channel: Channel; box: Inbox }[] = [];
  const broken: string[] = [];
  let opens = 0;
  const agent = new Peer({
    role: 'agent',
    broken: (words) => broken.push(`agent: ${words}`),
    opened: (request, channel) => {
      const box = inbox(() => channel, isSlow);
      agents.push({ channel, box });
      channel.accept(request.type === 'exec' ? { type: 'exec', pid: 1, terminal: false } : REPLY);
      return box.handlers;
    },
  });
  const service = new Peer({ role: 'service', broken: (words) => broken.push(`service: ${words}`) });
  let [down, up] = [new Wire(), new Wire()];
  const connect = (): void => {
    [down, up] = [new Wire(), new Wire()];
    const [ofAgent, ofService] = [agent.received, service.received];
    service.attach(down, ofAgent);
    agent.attach(up, ofService);
  };
  /** Delivers at most this many messages each way; returns whether any was there. */
  const deliver = (most = Number.POSITIVE_INFINITY): boolean => {
    let count = 0;
    for (; count < most; count++) {
      const [toAgent, toService] = [down.inFlight.shift(), up.inFlight.shift()];
      if (toAgent === undefined && toService === undefined) break;
      if (toAgent !== undefined) agent.receive(toAgent);
      if (toService !== undefined) service.receive(toService);
      agent.pump();
      service.pump();
    }
    return count > 0;
  };
  connect();
  return {
    agent,
    service,
    broken,
    deliver,
    /** The line breaks with all that is on it; a new one connects. */
    cut: connect,
    lines: () => ({ down, up }),
    /** Delivers until nothing is on the way any more. */
    settle: () => {
      do {
        agent.flush();
        service.flush();
      } while (deliver());
    },
    /** The service opens a channel; its agent's side is there once that has been delivered. */
    open: (request: ChannelRequest = shellRequest(), handlers?: ChannelHandlers): Opened => {
      const index = opens++;
      const near = inbox(() => opened, isSlow);
      const opened = service.open(request, handlers ?? near.handlers);
      if (opened === null) throw new Error('too many channels');
      const far = (): { channel: Channel; box: Inbox } => {
        const one = agents[index];
        if (one === undefined) throw new Error('not yet opened');
        return one;
      };
      return {
        service: opened,
        agent: () => far().channel,
        near,
        get far() {
          return far().box;
        },
      };
    },
  };
}
