import type { FieldFaults } from '../field-faults.ts';

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** For each variable a runtime searches all of them, so the time grows with the square. */
const MAX_ENV_NAMES = 512;

/** Names valid in a shell, at most 512; values without NUL, at most 32 KiB in all. */
export function envFaults(env: Readonly<Record<string, string>>): FieldFaults {
  const entries = Object.entries(env);
  if (entries.length > MAX_ENV_NAMES) return { env: `must have at most ${MAX_ENV_NAMES} names` };
  if (entries.some(([name]) => !ENV_NAME.test(name)))
    return { env: 'names must be letters, digits and underscores' };
  if (entries.some(([, value]) => value.includes('\0'))) return { env: 'values must not contain NUL' };
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  return bytes > 32_768 ? { env: 'must be at most 32 KiB in all' } : {};
}
