import { EXIT } from './exit-codes.ts';

export type CliErrorOptions = {
  /** What the user can do next: a sentence, often with a command. */
  readonly next?: string;
  readonly exit?: number;
  /** For programs, in JSON output. */
  readonly code?: string;
};

/** A failure in words for the user. Everything else that is thrown is a fault of the command. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly next: string | undefined;
  readonly exit: number;
  readonly code: string;

  constructor(message: string, { next, exit = EXIT.failed, code = 'failed' }: CliErrorOptions = {}) {
    super(message);
    this.next = next;
    this.exit = exit;
    this.code = code;
  }
}

export const usageError = (message: string, next?: string): CliError =>
  new CliError(message, { exit: EXIT.usage, code: 'usage', ...(next === undefined ? {} : { next }) });

export const notSignedIn = (message: string, server: string | null): CliError =>
  new CliError(message, {
    exit: EXIT.notSignedIn,
    code: 'not_signed_in',
    next: `Sign in: berth login${server === null ? ' --server URL' : ` --server ${server}`}`,
  });

/** A program in a container has ended: the command ends alike. */
export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd';
  readonly exit: number;

  constructor(exit: number) {
    super(`the program ended with exit code ${exit}`);
    this.exit = exit;
  }
}
