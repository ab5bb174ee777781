import { createHmac, timingSafeEqual } from 'node:crypto';

/** 256 bits as base64url. */
const SIGNATURE_CHARACTERS = 43;

/** One or two: the first signs, all verify. */
export type MessageKeys = () => readonly Buffer[];

/**
 * Batches of payloads as text on a channel, after their signature: a Redis may have users who are no process of this
 * installation. They are signed, not encrypted.
 */
export function signedBatches(channel: string, keys: MessageKeys) {
  const signature = (key: Buffer, content: string): Buffer =>
    Buffer.from(createHmac('sha256', key).update(`${channel}\n${content}`).digest('base64url'));

  const isSigned = (content: string, by: Buffer): boolean =>
    keys().some((key) => {
      const own = signature(key, content);
      return own.length === by.length && timingSafeEqual(own, by);
    });

  return {
    write(payloads: readonly string[]): string {
      const [key] = keys();
      if (key === undefined) throw new Error('no key signs messages');
      const content = JSON.stringify(payloads);
      return `${signature(key, content)}${content}`;
    },

    /** null for what no process with one of the keys has sent on this channel. */
    read(text: string): readonly string[] | null {
      const content = text.slice(SIGNATURE_CHARACTERS);
      if (!isSigned(content, Buffer.from(text.slice(0, SIGNATURE_CHARACTERS)))) return null;
      return JSON.parse(content) as readonly string[];
    },
  };
}
