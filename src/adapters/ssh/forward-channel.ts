import { PassThrough } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import type { SshDestination } from '../../domain/terminals/ssh.ts';
import type { InnerConnection } from '../../ports/containers/inside/container-commands.ts';
import { ChannelOutput } from './channel-output.ts';
import type { SignedInClient } from './client.ts';
import { inputOf } from './program-channel.ts';

/** Connects a client's channel to something that listens in its container. Refuses it when nothing does. */
export async function forward(
  client: SignedInClient,
  to: SshDestination | null,
  accept: () => ServerChannel,
  reject: () => void,
): Promise<void> {
  const { connection, programs, carrier, log } = client;
  const taken = to === null || connection.container === null ? null : connection.takeChannel();
  if (to === null || taken === null || !taken.ok) return reject();
  const release = taken.value;
  const forget = carrier.atEnd(release);
  // The client sends once its channel is accepted, which needs the connection first.
  const stdin = new PassThrough();
  let giveUp = reject;
  let end = (): void => {};
  try {
    const opened = await programs.forward(connection, to, stdin);
    if (!opened.ok || opened.value === null || carrier.isClosed) {
      if (opened.ok) await opened.value?.end();
      return reject();
    }
    const { value: inner } = opened;
    end = () => void inner.end();
    const channel = accept();
    giveUp = () => channel.close();
    await carry(client, channel, inner, stdin);
  } catch (err) {
    log.info({ err }, 'a forwarded connection was lost');
    end();
    giveUp();
  } finally {
    stdin.destroy();
    forget();
    release();
  }
}

/** How long input may still be delivered after its client has closed the channel. */
const ARRIVES_WITHIN_MS = 10_000;

/** Carries bytes between a channel and a connection in the container until both directions have ended. */
export async function carry(
  client: SignedInClient,
  channel: ServerChannel,
  inner: InnerConnection,
  stdin: PassThrough,
): Promise<void> {
  const end = (): void => void inner.end();
  const output = new ChannelOutput(channel, client.carrier);
  let late: NodeJS.Timeout | undefined;
  channel.once('close', end);
  const forget = client.carrier.atEnd(end);
  const forgetLate = output.atEnd(() => {
    late = setTimeout(end, ARRIVES_WITHIN_MS).unref();
  });
  try {
    inputOf(channel, client).pipe(stdin);
    for await (const data of inner.output) await output.write('stdout', data);
    channel.eof();
    await inner.closed;
    channel.end();
  } finally {
    clearTimeout(late);
    forget();
    forgetLate();
    channel.off('close', end);
    channel.unpipe().resume();
  }
}
