import type { Readable } from 'node:stream';
import type Docker from 'dockerode';

export type Report = {
  readonly error?: string;
  readonly status?: string;
  readonly id?: string;
  readonly progressDetail?: { readonly total?: number };
};

/** Reads the engine's report of a long action to its end. Throws the fault that it contains. */
export async function followToEnd(
  docker: Docker,
  answer: NodeJS.ReadableStream,
  onReport: (report: Report) => void,
): Promise<void> {
  const reports = await new Promise<readonly Report[]>((resolve, reject) => {
    const onEnd = (error: Error | null, all: Report[]): void =>
      error === null ? resolve(all) : reject(error);
    docker.modem.followProgress(answer as Readable, onEnd, onReport);
  });
  const fault = reports.find((report) => report.error !== undefined);
  if (fault?.error !== undefined) throw new Error(fault.error);
}

/** Passes on at most one report in `everyMs`. */
export function throttled<T>(everyMs: number, report: (value: T) => void): (value: T) => void {
  let next = 0;
  return (value) => {
    if (Date.now() < next) return;
    next = Date.now() + everyMs;
    report(value);
  };
}
