import {
  type Channel,
  type ChannelHandlers,
  type ChannelRequest,
  Peer,
} from '../../../src/protocol/agent/index.ts';
import { type Talk, talk } from './service.ts';

/** Opens channels of an agent that has these answers, without a connection. */
export function servedBy(opened: (request: ChannelRequest, channel: Channel) => ChannelHandlers) {
  const broken = (words: string): never => {
    throw new Error(words);
  };
  const agent = new Peer({ role: 'agent', opened, broken });
  const service = new Peer({ role: 'service', broken });
  const to = (peer: () => Peer) => ({
    send: (message: Uint8Array) => queueMicrotask(() => peer().receive(message)),
    bufferedBytes: 0,
  });
  service.attach(
    to(() => agent),
    0,
  );
  agent.attach(
    to(() => service),
    0,
  );
  return (request: ChannelRequest): Talk => talk(service, request);
}
