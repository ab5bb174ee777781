import type { FieldFaults } from '../field-faults.ts';
import { envFaults } from './environment.ts';

/** Program and arguments, each with a final byte: Linux's limit for a single argument. */
export const MAX_COMMAND_BYTES = 131_072;

type Command = {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Limits what the engine has to carry for a command: its arguments, and its environment as for a container. */
export function commandFaults({ command, env = {} }: Command): FieldFaults {
  const bytes = command.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
  const tooLong = bytes > MAX_COMMAND_BYTES ? { command: 'must be at most 128 KiB in all' } : {};
  return { ...tooLong, ...envFaults(env) };
}
