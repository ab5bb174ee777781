/** Nothing to see, or text that runs the other way: spaces, controls, formats, fillers, the empty Braille cell. */
const UNSEEN = /[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Scripts whose languages are written in several at once, as in Unicode's "highly restrictive" profile (UTS 39). */
const WRITTEN_WITH: readonly RegExp[] = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Latin}]*$/u,
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Latin}]*$/u,
  /^[\p{Script=Han}\p{Script=Bopomofo}\p{Script=Latin}]*$/u,
];
const SINGLE: readonly RegExp[] = [
  /^\p{Script=Latin}*$/u,
  /^\p{Script=Cyrillic}*$/u,
  /^\p{Script=Greek}*$/u,
  /^[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]*$/u,
];

/** Cyrillic and Greek letters that pass for a Latin one (UTS 39, confusables). */
const PASS_FOR_LATIN = /^[асеорхуіјѕһԁԛԝӏѵԍԚԜАВЕКМНОРСТХУІЈЅαοικνρτυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]+$/u;
/** Letters of Latin that pass for another one: without their dot, or made for phonetics. */
const PHONETIC = /[ıȷĸſƅƨƽǀɑɡɩɪʀʏꞌꓲ\u1d00-\u1dbf\ua720-\ua7ff]/u;

/** Whether something in a text cannot be seen, or changes the direction of what follows. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/**
 * Whether a name can pass for another one: a label (what stands between dots, @, hyphens and the like) with letters of
 * several alphabets, or of letters alone that are drawn like Latin ones.
 */
export const canPassForAnother = (name: string): boolean =>
  name.split(/[^\p{L}\p{M}\p{N}]+/u).some((label) => {
    const letters = label.replace(/[^\p{L}]/gu, '');
    const oneAlphabet = [...SINGLE, ...WRITTEN_WITH].some((alphabet) => alphabet.test(letters));
    return !oneAlphabet || PASS_FOR_LATIN.test(letters) || PHONETIC.test(letters);
  });

/** The form in which names are stored and compared: look-alikes by width, ligature or composition are one (NFKC). */
export const comparable = (name: string): string => name.normalize('NFKC');
