import t from 'tap';
import { DownloadStream } from '../../../src/adapters/agents/download-stream.ts';
import { listingOf } from '../../../src/adapters/agents/folder-listing.ts';
import { type Channel, type ChannelHandlers, encodeEntry, Peer } from '../../../src/protocol/agent/index.ts';

const MIB = 1_048_576;

/** A listing from an agent that sends these parts of it. */
async function listed(parts: Iterator<Buffer, undefined>) {
  const agent = { sentBytes: 0, isEnded: false };
  const opened = (_request: unknown, channel: Channel): ChannelHandlers => {
    let part = parts.next().value;
    const send = (): void => {
      while (channel.isOpen && part !== undefined) {
        const bytes = channel.write(part);
        agent.sentBytes += bytes;
        if (bytes < part.length) {
          part = part.subarray(bytes);
          return;
        }
        part = parts.next().value;
      }
      if (channel.isOpen) channel.finish({ type: 'file_open', complete: true });
    };
    channel.accept({ type: 'listing' });
    send();
    return {
      room: send,
      reset: () => {
        agent.isEnded = true;
      },
    };
  };
  const broken = (words: string): never => {
    throw new Error(words);
  };
  const there = new Peer({ role: 'agent', opened, broken });
  const here = new Peer({ role: 'service', broken });
  const lineTo = (peer: Peer) => ({
    send: (message: Uint8Array) => queueMicrotask(() => peer.receive(message)),
    bufferedBytes: 0,
  });
  here.attach(lineTo(there), 0);
  there.attach(lineTo(here), 0);
  const stream = new DownloadStream();
  await stream.open(here, { type: 'file_open', path: '', folder_as: 'listing' });
  return { agent, listing: () => listingOf(stream, undefined) };
}

const entry = (name: string): Buffer =>
  Buffer.from(encodeEntry({ name, kind: 'file', size_bytes: 1, mode: 0o644, modified_at: 0 }));

t.test('a listing is read wherever it is cut', async (t) => {
  const names = ['a', 'ü'.repeat(255), '\u0001'.repeat(255), '\u{1f600}'];
  const bytes = Buffer.concat(names.map(entry));
  for (const size of [1, 7, bytes.length]) {
    const { listing } = await listed(
      (function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        return undefined;
      })(),
    );
    const { entries, complete } = await listing();
    t.same(
      entries.map(({ name }) => name),
      names,
      `pieces of ${size}`,
    );
    t.ok(complete);
  }
});

t.test('a line of a listing that does not end is not kept, and ends the channel', async (t) => {
  const { agent, listing } = await listed(
    (function* () {
      for (let count = 0; count < 16; count += 1) yield Buffer.alloc(MIB, 'x');
      return undefined;
    })(),
  );
  await t.rejects(listing(), { name: 'RuntimeFailure' });
  t.ok(agent.sentBytes <= 4 * MIB, `the agent could send ${agent.sentBytes} bytes`);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(agent.isEnded);
});
