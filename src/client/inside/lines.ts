/** The text of a body, in pieces as they arrive. Leaving the loop ends the request. */
export async function* textOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (text !== '') yield text;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The lines of a body, without their ends. */
export async function* linesOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const text of textOf(body)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
