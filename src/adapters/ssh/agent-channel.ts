import type { Connection, ServerChannel } from 'ssh2';

const WINDOW_BYTES = 2 * 1024 * 1024;
const PACKET_BYTES = 32 * 1024;

type Opened = (error: Error | undefined, channel: ServerChannel) => void;
/** Inner fields of ssh2 1.17.0, whose server has no public method for this channel. */
type Inner = {
  readonly _chanMgr?: { add(opened: Opened): number };
  readonly _protocol?: {
    openssh_authAgent?(channel: number, windowBytes: number, packetBytes: number): void;
  };
};

/** Opens a channel to the client's SSH agent. Rejects when the client has none, or the package lacks a field. */
export function openAgentChannel(connection: Connection): Promise<ServerChannel> {
  const { _chanMgr: channels, _protocol: protocol } = connection as unknown as Inner;
  return new Promise((resolve, reject) => {
    const opened: Opened = (error, channel) => (error ? reject(error) : resolve(channel));
    // The package reads the kind of channel from here.
    const id = channels?.add(Object.assign(opened, { type: 'auth-agent@openssh.com' })) ?? -1;
    if (id < 0 || protocol?.openssh_authAgent === undefined)
      return reject(new Error('no channel to an SSH agent can be opened'));
    protocol.openssh_authAgent(id, WINDOW_BYTES, PACKET_BYTES);
  });
}
