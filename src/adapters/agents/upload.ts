import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { NotOffered } from '../../ports/containers/container-runtime.ts';
import type { Channel, Peer, RequestOf, ResultOf } from '../../protocol/agent/index.ts';
import { AgentFault, errorOf, notDone, sendWithin, tooMany } from './requests.ts';

type Written = ResultOf<'file_write'>;

/**
 * Sends a file, which the agent puts in its place once it has all. Leaves unread content unread. Throws
 * `OutcomeUnknown` only after the end was sent.
 */
export async function upload(
  peer: Peer,
  request: Omit<RequestOf<'file_write'>, 'type'>,
  content: Readable,
): Promise<Written> {
  const { max_bytes: maxBytes, only_new } = request;
  const changes = new EventEmitter();
  const { promise, resolve, reject } = Promise.withResolvers<Written>();
  /** Whether the agent obeys `only_new`; an older one does not. */
  const knows = Promise.withResolvers<boolean>();
  let hasEnded = false;
  promise.catch(() => undefined);
  const channel = peer.open(
    { type: 'file_write', ...request },
    {
      accepted: (reply) => {
        knows.resolve(reply.type === 'file_write' && reply.only_new);
        changes.emit('room');
      },
      room: () => void changes.emit('room'),
      finished: (result) => {
        resolve(result as Written);
        changes.emit('room');
      },
      reset: (fault) => {
        // Without its end the agent writes nothing.
        reject(fault.code === 'lost' && !hasEnded ? notDone() : errorOf(fault));
        knows.resolve(true);
        changes.emit('room');
      },
    },
  );
  if (channel === null) throw tooMany();
  try {
    await sendAll(channel, content, maxBytes, changes);
    // An older agent would replace the file at the end of the content.
    if (only_new && !(await knows.promise)) throw new NotOffered('agent', 'this agent always replaces files');
    hasEnded = true;
    channel.end();
    return await promise;
  } catch (error) {
    // The content ended early: the agent must not keep a part of it.
    channel.reset('ended');
    throw error;
  }
}

/** Ends early when the agent has refused the file: its reason is the result. */
async function sendAll(
  channel: Channel,
  content: Readable,
  maxBytes: number,
  changes: EventEmitter,
): Promise<void> {
  let bytesLeft = maxBytes;
  const iterator = content.iterator({ destroyOnReturn: false });
  for await (const chunk of iterator) {
    bytesLeft -= (chunk as Buffer).length;
    if (bytesLeft < 0) throw new AgentFault({ code: 'file_too_large', message: 'above the limit' });
    await sendWithin(channel, chunk as Buffer, (room) => changes.once('room', room));
    if (!channel.isOpen) return;
  }
}
