import type { Readable } from 'node:stream';

export type Report = {
  readonly error?: string;
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: { readonly total?: number };
};

/** Longer than any report; without a line end it is none. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Reads the engine's progress reports to the end. Throws the error they contain. */
export async function followToEnd(
  answer: NodeJS.ReadableStream,
  onReport: (report: Report) => void,
): Promise<void> {
  let fault: string | null = null;
  for await (const line of linesOf(answer as Readable)) {
    if (line.trim() === '') continue;
    const report = reportOf(line);
    fault ??= report.error ?? null;
    onReport(report);
  }
  if (fault !== null) throw new Error(fault);
}

async function* linesOf(answer: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_BYTES)
      throw new Error(`the engine sent a progress line of more than ${MAX_LINE_BYTES} bytes`);
    yield* lines;
  }
  yield rest;
}

function reportOf(line: string): Report {
  try {
    const report: unknown = JSON.parse(line);
    if (typeof report === 'object' && report !== null) return report;
  } catch {
    // reported as the error below
  }
  throw new Error(`the engine sent progress that is not a JSON object: ${line.trim().slice(0, 100)}`);
}

export function throttled<T>(everyMs: number, report: (value: T) => void): (value: T) => void {
  let next = 0;
  return (value) => {
    if (performance.now() < next) return;
    next = performance.now() + everyMs;
    report(value);
  };
}
