import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** The option of commands that leave a program running. */
export const detachKeyOption = () =>
  new Option('--detach-key <key>', 'the key that leaves it running, such as ctrl-], or none')
    .argParser(keyByte)
    .default(0x1c, 'ctrl-\\');

/** `ctrl-\` as its byte; null for `none`. */
function keyByte(text: string): number | null {
  if (text === 'none') return null;
  const [, letter = ''] = /^ctrl-([a-z@[\\\]^_])$/i.exec(text) ?? [];
  if (letter === '') throw new InvalidArgumentError('Give a key such as ctrl-\\ or ctrl-], or none.');
  return letter.toUpperCase().charCodeAt(0) & 0x1f;
}
