import type { ReadStream, WriteStream } from 'node:tty';

/** The process that the command runs in. Data goes to `out`, messages to people to `err`. */
export type Io = {
  readonly in: NodeJS.ReadStream;
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export const processIo = (): Io => ({
  in: process.stdin,
  out: process.stdout,
  err: process.stderr,
  env: process.env,
});

export const isTerminal = (stream: ReadStream | WriteStream | NodeJS.ReadStream | NodeJS.WriteStream) =>
  stream.isTTY === true;

/** Whether a person can be asked: questions are written to `err` and answered on `in`. */
export const canAsk = ({ in: input, err }: Io): boolean => isTerminal(input) && isTerminal(err);

/** Every text of an answer as `printable` makes it. */
export function printableIn<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(printableIn) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, printableIn(one)])) as T;
}

/** Text from the service, safe to show: without control characters it cannot drive the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');

/** JSON, with those control characters escaped too that JSON allows and a terminal obeys. */
export const jsonText = (value: unknown, indent?: number): string =>
  String(JSON.stringify(value, null, indent)).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
