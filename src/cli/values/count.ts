import { InvalidArgumentError } from '@commander-js/extra-typings';

/** How many: a whole number above 0. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number above 0.');
  return Number(text);
}
