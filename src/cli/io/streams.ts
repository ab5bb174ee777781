/** Writes, and waits while the reader is slow. Throws when the stream has closed. */
export async function writeTo(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
