/** Channels of the exec protocol: the first byte of a message. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

export function messageOf(channel: number, data: Buffer): Buffer {
  const message = Buffer.allocUnsafe(data.length + 1);
  message[0] = channel;
  data.copy(message, 1);
  return message;
}
