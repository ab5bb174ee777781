import type { FieldFaults } from '../field-faults.ts';
import { envFaults } from './environment.ts';

/** Of a program and its arguments, with a byte for the end of each: what Linux takes of a single one. */
export const MAX_COMMAND_BYTES = 131_072;

type Command = {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** What the engine would have to carry for a command is bounded: its arguments, and its environment as for a container. */
export function commandFaults({ command, env = {} }: Command): FieldFaults {
  const bytes = command.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
  const tooLong = bytes > MAX_COMMAND_BYTES ? { command: 'must be at most 128 KiB in all' } : {};
  return { ...tooLong, ...envFaults(env) };
}
