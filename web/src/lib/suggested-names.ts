const FIRST =
  'amber brisk calm clear coral early fair gentle keen lunar quiet rapid silver steady swift warm'.split(' ');
const SECOND =
  'anchor bay buoy cove current dock harbor island jetty lagoon pier quay reef shore tide wharf'.split(' ');

/** A name to start from that is not among `taken`. `random` gives numbers from 0 to 1. */
export function suggestName(taken: readonly string[], random: () => number = Math.random): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? 'calm';
  const name = `${pick(FIRST)}-${pick(SECOND)}`;
  return taken.includes(name) ? `${name}-${Math.floor(random() * 900) + 100}` : name;
}
