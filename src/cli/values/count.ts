import { InvalidArgumentError } from '@commander-js/extra-typings';

/** How many: a whole number from 1 to 999999999. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 999999999.');
  return Number(text);
}
