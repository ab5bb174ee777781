import { BerthError } from '../../api/errors.ts';

/** What was typed as a whole number; NaN for anything else. */
export const wholeNumber = (text: string): number =>
  /^\s*\d{1,12}\s*$/.test(text) ? Number(text) : Number.NaN;

const isMissing = (value: unknown): boolean =>
  Number.isNaN(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(isMissing));

/** Throws, as the service would answer, when a field of a form has no whole number in it. */
export function requireWholeNumbers(values: object): void {
  const missing = Object.entries(values).filter(([, value]) => isMissing(value));
  if (missing.length === 0) return;
  const fields = Object.fromEntries(missing.map(([name]) => [name, 'must be a whole number']));
  throw new BerthError(400, 'validation_failed', 'invalid request', { fields });
}
