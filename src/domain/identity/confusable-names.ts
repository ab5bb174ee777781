/** Invisible, or reversing the direction: spaces, controls, formats, fillers, the empty Braille cell. */
const UNSEEN = /[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Languages written in several scripts at once, as in Unicode's "highly restrictive" profile (UTS 39). */
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

/** Cyrillic and Greek letters that look Latin (UTS 39, confusables). */
const PASS_FOR_LATIN = /^[асеорхуіјѕһԁԛԝӏѵԍԚԜАВЕКМНОРСТХУІЈЅαοικνρτυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]+$/u;
/** Latin letters that look like others: without their dot, or phonetic. */
const PHONETIC = /[ıȷĸſƅƨƽǀɑɡɩɪʀʏꞌꓲ\u1d00-\u1dbf\ua720-\ua7ff]/u;

/** Whether a text has invisible characters or ones that change the direction of what follows. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/**
 * Whether a name can imitate another: a label (between dots, @, hyphens and the like) that mixes alphabets, or whose
 * letters all look Latin.
 */
export const canPassForAnother = (name: string): boolean =>
  name.split(/[^\p{L}\p{M}\p{N}]+/u).some((label) => {
    const letters = label.replace(/[^\p{L}]/gu, '');
    const oneAlphabet = [...SINGLE, ...WRITTEN_WITH].some((alphabet) => alphabet.test(letters));
    return !oneAlphabet || PASS_FOR_LATIN.test(letters) || PHONETIC.test(letters);
  });

/** The form in which names are stored and compared: NFKC, which unifies width, ligatures and composition. */
export const comparable = (name: string): string => name.normalize('NFKC');
