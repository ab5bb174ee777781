/**
 * Words that, alone or with digits and marks behind them, are among the passwords that guessing programs try first: the
 * tops of the published lists of leaked passwords.
 */
const WORDS = new Set([
  ...['password', 'passwort', 'passw', 'pass', 'passphrase', 'motdepasse', 'contrasena', 'senha', 'haslo'],
  ...['admin', 'administrator', 'root', 'user', 'guest', 'default', 'changeme', 'secret', 'master', 'login'],
  ...[
    'welcome',
    'willkommen',
    'bienvenue',
    'hello',
    'letmein',
    'trustnoone',
    'access',
    'abc',
    'test',
    'testtest',
  ],
  ...[
    'testing',
    'example',
    'qwerty',
    'qwertz',
    'azerty',
    'qwertyuiop',
    'asdfghjkl',
    'zxcvbnm',
    'asdf',
    'qwer',
  ],
  ...[
    'iloveyou',
    'loveyou',
    'lovely',
    'sunshine',
    'princess',
    'football',
    'baseball',
    'basketball',
    'superman',
  ],
  ...[
    'batman',
    'spiderman',
    'pokemon',
    'starwars',
    'dragon',
    'monkey',
    'shadow',
    'michael',
    'jennifer',
    'jordan',
  ],
  ...['charlie', 'computer', 'internet', 'whatever', 'michelle', 'jessica', 'ashley', 'liverpool', 'chelsea'],
  ...[
    'arsenal',
    'freedom',
    'summer',
    'winter',
    'spring',
    'autumn',
    'sommer',
    'samsung',
    'google',
    'facebook',
  ],
  ...[
    'mustang',
    'corvette',
    'mercedes',
    'ferrari',
    'yankees',
    'cowboys',
    'hunter',
    'killer',
    'ninja',
    'maverick',
  ],
  ...[
    'blink',
    'nothing',
    'cheese',
    'cookie',
    'chocolate',
    'butterfly',
    'flower',
    'purple',
    'alexander',
    'qazwsx',
  ],
  ...[
    'qazwsxedc',
    'berth',
    'docker',
    'container',
    'correcthorsebatterystaple',
    'correct horse battery staple',
  ],
]);

/** Rows of keyboards, the alphabet and the digits, along which fingers run. */
const RUNS = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'qazwsxedcrfvtgbyhnujm',
];

const BACKWARDS = RUNS.map((run) => [...run].reverse().join(''));

const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

const withLetters = (text: string): string => [...text].map((char) => LETTERS[char] ?? char).join('');

/** Without the digits and marks that people put behind a word. */
const stem = (text: string): string => text.replace(/[\d\p{P}\p{S}]+$/u, '');

/** One to four characters again and again. */
const REPEATS = /^(.{1,4})\1+.{0,3}$/su;

const isRun = (text: string): boolean => [...RUNS, ...BACKWARDS].some((run) => run.includes(text));

/** Whether it is made of one or two runs: `asdfasdf`, `qwer1234`. */
const isOfRuns = (text: string): boolean =>
  isRun(text) ||
  Array.from(text.slice(4, -3), (_, at) => at + 4).some(
    (cut) => isRun(text.slice(0, cut)) && isRun(text.slice(cut)),
  );

/** Whether guessing programs try this password among their first. Case does not count. */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  const word = stem(text);
  return [word, withLetters(word), withLetters(text)].some((each) => WORDS.has(each)) || isPattern(text);
}

const isPattern = (text: string): boolean => REPEATS.test(text) || isOfRuns(text);

/** Whether it is the user's own name or address, perhaps with digits and marks behind it. */
export function isOwnName(password: string, names: readonly string[]): boolean {
  const text = password.toLowerCase();
  return names
    .map((name) => name.toLowerCase())
    .some((name) => name !== '' && (text === name || (stem(text) === stem(name) && stem(text) !== '')));
}
