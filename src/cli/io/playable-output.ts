/** The longest title, link or other sequence. */
const MAX_SEQUENCE = 4_096;
const ESCAPE = '\x1b';
const pattern = (source: string, flags = ''): RegExp => new RegExp(source, flags);
const TEXT = pattern(String.raw`^[^\x1b]+`);
/** One-byte forms of escape sequences. */
const C1 = pattern(String.raw`[\x80-\x9f]`, 'g');
const ENQUIRY = pattern(String.raw`\x05`, 'g');
const CONTROLS = pattern(String.raw`[\x00-\x1f\x7f]`, 'g');

const TITLE_OR_LINK = pattern(String.raw`^\x1b\][0128];[^\x00-\x1f\x7f]*(?:\x07|\x1b\\)`);
const TITLE_OR_LINK_BEGUN = pattern(String.raw`^\x1b\](?:[0128](?:;[^\x00-\x1f\x7f]*\x1b?)?)?$`);
const STRING = pattern(String.raw`^\x1b[PX^_\]]`);
const STRING_END = pattern(String.raw`[\x07\x18\x1a\x1b]`);
/** Control characters inside a sequence are no part of it. */
const CSI = pattern(String.raw`^\x1b\[([\x00-\x17\x19\x1c-\x3f\x7f]*)([@-~]?)`);
const OTHER = pattern(String.raw`^\x1b([\x00-\x17\x19\x1c-\x2f\x7f]*)([0-~]?)`);

const DRAWS = /^(?:[0-9;:]*[@A-HJ-MPXZ`abd-gmrsu]|[0-9]*[IST]|\?[0-9]*[JK]|[0-9]* [q@A]|[0-9]*'[}~]|!p)$/;
const DRAWS_TOO = /^(?:[78DEHMc]|[()*+][0-9A-Za-z]|#8)$/;
const SWITCH = /^(\??)([0-9;]*)([hl])$/;
/** Insert mode and new lines. */
const MODES = new Set(['4', '20']);
/** Colours, origin, wrapping, the cursor, the alternate screen, margins, whole frames. */
const PRIVATE_MODES = new Set(['5', '6', '7', '12', '25', '47', '69', '1047', '1048', '1049', '2026']);

/** `isString`: its text follows, and may not be shown either. */
type Sequence = { readonly length: number; readonly shown: string; readonly isString?: true };

/**
 * What of a recording's output may reach the user's own terminal: text and what draws. Anybody may have written a
 * recording. A query in it would be answered into the shell after the playing, and other sequences set the clipboard,
 * keys or reports of the mouse.
 */
export class PlayableOutput {
  /** A sequence without its end. */
  #begun = '';
  #isInString = false;

  /** The part of the next output that may be shown. It may be cut anywhere. */
  add(output: string): string {
    let rest = this.#begun + output.replace(ENQUIRY, '').replace(C1, asEscape);
    this.#begun = '';
    let shown = '';
    while (rest !== '') {
      if (this.#isInString) rest = this.#afterString(rest);
      const [text = ''] = TEXT.exec(rest) ?? [];
      shown += text;
      rest = rest.slice(text.length);
      if (rest === '') break;
      const sequence = nextSequence(rest);
      if (sequence === null) {
        this.#begin(rest);
        break;
      }
      shown += sequence.shown;
      rest = rest.slice(sequence.length);
      this.#isInString = sequence.isString ?? false;
    }
    return shown;
  }

  #begin(sequence: string): void {
    if (sequence.length <= MAX_SEQUENCE) this.#begun = sequence;
    else this.#isInString = STRING.test(sequence);
  }

  #afterString(output: string): string {
    const end = output.search(STRING_END);
    if (end < 0) return '';
    this.#isInString = false;
    return output.slice(output[end] === ESCAPE ? end : end + 1);
  }
}

const asEscape = (control: string): string => ESCAPE + String.fromCharCode(control.charCodeAt(0) - 0x40);

/** The sequence at the start; null without its end. */
function nextSequence(output: string): Sequence | null {
  const [whole] = TITLE_OR_LINK.exec(output) ?? [];
  if (whole !== undefined) return { length: whole.length, shown: whole };
  if (TITLE_OR_LINK_BEGUN.test(output)) return null;
  if (STRING.test(output)) return { length: 2, shown: '', isString: true };
  const csi = CSI.exec(output);
  return csi === null
    ? shownOf(output, OTHER.exec(output), '', drawnByOther)
    : shownOf(output, csi, '[', drawn);
}

/** An ended sequence without its control characters, if it draws. */
function shownOf(
  output: string,
  found: RegExpExecArray | null,
  start: string,
  drawing: (sequence: string) => string,
): Sequence | null {
  const [whole = ESCAPE, parameters = '', final = ''] = found ?? [];
  if (final === '') return whole.length === output.length ? null : { length: whole.length, shown: '' };
  const sequence = drawing(parameters.replace(CONTROLS, '') + final);
  return { length: whole.length, shown: sequence === '' ? '' : ESCAPE + start + sequence };
}

const drawnByOther = (sequence: string): string => (DRAWS_TOO.test(sequence) ? sequence : '');

function drawn(sequence: string): string {
  const [, prefix = '', modes = '', final = ''] = SWITCH.exec(sequence) ?? [];
  if (final === '') return DRAWS.test(sequence) ? sequence : '';
  const allowed = prefix === '' ? MODES : PRIVATE_MODES;
  const kept = modes.split(';').filter((mode) => allowed.has(mode));
  return kept.length === 0 ? '' : prefix + kept.join(';') + final;
}
