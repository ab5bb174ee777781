import { type DetailOf, type Noun, type Sentence, say, thing, user } from './sentence.ts';

/** The details of an administrator's change have an id; those of one's own profile have none. */
export function userUpdated(of: DetailOf): Sentence {
  if (of('id') === '') return profileChanged(of);
  const who = user(of('id'));
  const keys = ['disabled', 'role', 'tier', 'endsAt'].filter((key) => of(key) !== '');
  if (keys.length > 0) {
    const clauses = keys.map((key, index) => clause(key, of, index === 0 ? who : 'the account'));
    return capitalized(listed(clauses));
  }
  return of('disabledReason') === ''
    ? say`Changed ${who}`
    : [...say`Changed the reason why ${who}`, ' is disabled'];
}

function clause(key: string, of: DetailOf, who: Noun | string): Sentence {
  switch (key) {
    case 'disabled':
      return [of('disabled') === 'true' ? 'disabled ' : 'enabled ', who];
    case 'role':
      return ['made ', who, of('role') === 'admin' ? ' an administrator' : ' an ordinary user'];
    case 'tier':
      return ['moved ', who, ' to the tier ', thing(of('tier'))];
    default: {
      const account: Sentence = typeof who === 'string' ? [who] : ['the account of ', who];
      return of('endsAt') === 'never'
        ? ['removed the end of ', ...account]
        : ['set the end of ', ...account, ` to ${dayOf(of('endsAt'))}`];
    }
  }
}

function profileChanged(of: DetailOf): Sentence {
  const name = of('username');
  const minutes = of('auto_lock_minutes');
  const wait = minutes === '1' ? '1 minute' : `${minutes} minutes`;
  const clauses: readonly Sentence[] = [
    ...(name === '' ? [] : [['changed the name to ', thing(name)]]),
    ...(minutes === '' ? [] : [[`set the screen to lock after ${wait}`]]),
  ];
  return clauses.length === 0 ? ['Changed the profile'] : capitalized(listed(clauses));
}

/** The day of the reader's clock, in English as the sentence is. */
const dayOf = (time: string): string => new Date(time).toLocaleDateString('en-GB', { dateStyle: 'long' });

/** Parts with commas between them, and “and” before the last. */
const listed = (parts: readonly Sentence[]): Sentence =>
  parts.flatMap((part, index) => {
    if (index === 0) return part;
    return [index === parts.length - 1 ? ' and ' : ', ', ...part];
  });

const capitalized = ([first, ...rest]: Sentence): Sentence =>
  typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : [];
