/** What an agent and the service say to each other, over any line of messages. Described in docs/agents.md. */
export { Channel, type ChannelHandlers } from './channel.ts';
export type { ChannelFault, StreamNumber } from './channel-frames.ts';
export * from './limits.ts';
export {
  type AgentDescription,
  type CloseReason,
  encodeClose,
  encodeGreeting,
  encodeWelcome,
  type Greeting,
  readClose,
  readGreeting,
  readWelcome,
  type Welcome,
} from './line-messages.ts';
export { type Line, Peer } from './peer.ts';
export * from './requests.ts';
