import { PassThrough } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import type { SshListening } from '../../domain/terminals/ssh.ts';
import type { InnerArrival, InnerListener } from '../../ports/containers/inside/container-commands.ts';
import type { SignedInClient } from './client.ts';
import { carry } from './forward-channel.ts';

/** Opens a channel to the client. Rejects when the client does not take it. */
export type OpenChannel = (listener: InnerListener) => Promise<ServerChannel>;

/**
 * Listens in the client's container, and connects each arriving connection to a channel of the client, until the SSH
 * connection ends. null when it cannot listen.
 */
export async function listenFor(
  client: SignedInClient,
  at: SshListening,
  openChannel: OpenChannel,
): Promise<InnerListener | null> {
  const { connection, programs, carrier, log } = client;
  const taken = connection.container === null ? null : connection.takeListener();
  if (taken === null || !taken.ok) return null;
  let listener: InnerListener | null = null;
  try {
    const opened = await programs.listen(connection, at);
    listener = opened.ok ? opened.value : null;
  } catch (err) {
    log.info({ err }, 'a listener in a container could not start');
  }
  if (listener === null) {
    taken.value();
    return null;
  }
  const { arrivals, end } = listener;
  const open = () => openChannel(listener);
  const forget = carrier.atEnd(() => void end());
  const serving = async (): Promise<void> => {
    for await (const arrival of arrivals) void serve(client, at, arrival, open);
  };
  void serving()
    .catch((err: unknown) => log.info({ err }, 'a listener in a container was lost'))
    .finally(() => {
      forget();
      taken.value();
      void end();
    });
  return listener;
}

async function serve(
  client: SignedInClient,
  at: SshListening,
  arrival: InnerArrival,
  openChannel: () => Promise<ServerChannel>,
): Promise<void> {
  const { connection, programs, carrier, log } = client;
  const taken = carrier.isClosed ? null : connection.takeChannel();
  if (taken === null || !taken.ok) return arrival.refuse();
  const forget = carrier.atEnd(taken.value);
  const stdin = new PassThrough();
  let giveUp = arrival.refuse;
  try {
    const channel = await openChannel();
    let isLeft = false;
    channel.once('close', () => {
      isLeft = true;
    });
    channel.on('error', (err: Error) => log.info({ err }, 'an SSH channel failed'));
    giveUp = () => {
      arrival.refuse();
      channel.close();
    };
    const opened = await programs.accept(connection, at, arrival, stdin);
    if (!opened.ok || opened.value === null) return giveUp();
    const { value: inner } = opened;
    giveUp = () => {
      void inner.end();
      channel.close();
    };
    if (carrier.isClosed || isLeft) return giveUp();
    await carry(client, channel, inner, stdin);
  } catch (err) {
    log.info({ err }, 'a connection from a container was lost');
    giveUp();
  } finally {
    stdin.destroy();
    forget();
    taken.value();
  }
}
