import { CappedOutput } from '../../../domain/capped-output.ts';

/** More than a terminal echoes of the start command. */
const MAX_BYTES = 4 * 1_048_576;

/** The first process of a program, as the report of its start has it. */
export type FirstProcess = { readonly pid: string; readonly startedAt: string };

/** Finds the report of a program's start. It searches each byte once: a program decides how many pieces they come in. */
export class StartReport {
  readonly #begin: Buffer;
  readonly #output = new CappedOutput(MAX_BYTES);
  #searchedBytes = 0;
  #at = -1;

  constructor(begin: Buffer) {
    this.#begin = begin;
  }

  /** Whether there was more output than comes before any report. */
  get isMissing(): boolean {
    return this.#output.isCut;
  }

  /** The report and the output after it; null as long as it is not there. */
  find(piece: Buffer): { readonly process: FirstProcess; readonly rest: Buffer } | null {
    this.#output.add(piece);
    const all = this.#output.bytes();
    const begin = this.#begin;
    if (this.#at < 0) this.#at = all.indexOf(begin, Math.max(0, this.#searchedBytes - begin.length));
    const end = this.#at < 0 ? -1 : all.indexOf(';', Math.max(this.#at, this.#searchedBytes));
    this.#searchedBytes = all.length;
    if (end < 0) return null;
    const report = all.subarray(this.#at + begin.length, end).toString();
    const [pid = '', startedAt = ''] = report.split(':');
    return { process: { pid, startedAt }, rest: all.subarray(end + 1) };
  }
}
