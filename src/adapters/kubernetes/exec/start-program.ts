import { randomUUID } from 'node:crypto';
import type { ProgramRequest } from '../../../ports/containers/inside/container-programs.ts';

/**
 * What the URL of an exec has: it reads a program for `sh` up to the line `$0`, and runs it. The API server writes URLs
 * to its audit log, and limits them, so commands and variables come as input.
 */
const READ_PROGRAM = `berth_code=
until IFS= read -r berth_line || exit 1; [ "$berth_line" = "$0" ]; do berth_code=$berth_code$berth_line'
'; done
eval "$berth_code"`;

/** Variables with these names only mark processes. */
const MARK = /^BERTH_/;

/** How a program of `READ_PROGRAM` starts, what to send first, and how to recognise that it runs. */
export type Start = {
  /** argv of the exec. */
  readonly command: readonly string[];
  /** The first input. */
  readonly program: (inputEnd: InputEnd) => Buffer;
  /** Instead of `program`: it ends at once. */
  readonly refusal: Buffer;
  /** Its report, the first output that is not the terminal's echo, is between this and the next `;`: `PID:START`. */
  readonly reportBegin: Buffer;
  /** On stderr, the end of a program with input, which may still be on its way. It begins with a rare byte. */
  readonly inputLeft: Buffer;
};

/** Whether input can be ended: since version 5 of the protocol by itself, else by frames around the input. */
export type InputEnd = 'native' | 'framed';

/**
 * The exit code 0 of an exec also stands for a connection that ended early, as when the runtime restarts. So a program
 * without a terminal swaps it with this one, which programs hardly use.
 */
const SWAPPED_CODE = 199;
export const unswapped = (code: number): number =>
  code === 0 ? SWAPPED_CODE : code === SWAPPED_CODE ? 0 : code;

const SWAP = `case $berth_exit in 0) berth_exit=${SWAPPED_CODE};; ${SWAPPED_CODE}) berth_exit=0;; esac
exit $berth_exit
`;

const RUN = `(exec "$@")`;

/**
 * A server that has input left when a program ends breaks the connection, and the program's last words are lost. So the
 * sender hears that it has ended, ends the input, and what is on its way is read.
 */
const runWithInput = (ended: string): string => `${RUN}
berth_exit=$?
printf '\\036%s;' '${ended}' >&2
cat >/dev/null`;

/** Input in frames, each after a line with its length, up to one of no length. \`read\` takes no byte too many. */
const runWithFrames = (ended: string): string => `{
while IFS= read -r berth_size && [ "$berth_size" -gt 0 ]; do
dd bs="$berth_size" count=1 iflag=fullblock 2>/dev/null || break
done
} | {
${runWithInput(ended)}
exit $berth_exit
}
berth_exit=$?`;

/** A frame for `runWithFrames`; an empty one ends the input. */
export const inputFrame = (data: Buffer): Buffer => Buffer.concat([Buffer.from(`${data.length}\n`), data]);

export function startOf(request: ProgramRequest): Start {
  const end = randomUUID();
  const token = randomUUID();
  const isTerminal = request.form === 'terminal';
  const marks = Object.entries(request.env).filter(([name]) => isTerminal && MARK.test(name));
  // In two words, so that the terminal's echo does not have it.
  const report = `'${token.slice(0, 18)}''${token.slice(18)}:'`;
  const before = [
    'unset berth_code berth_line',
    'IFS= read -r berth_stat < /proc/$$/stat',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell syntax
    'set -- ${berth_stat##*) }',
    `printf '%s%s:%s;' ${report} $$ "\${20}"${isTerminal ? '' : ' >&2'}`,
    'unset berth_stat',
    ...Object.entries(request.env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(request.workdir === undefined ? [] : [`cd ${quoted(request.workdir)} || exit 126`]),
    `set -- ${request.command.map(quoted).join(' \\\n')}`,
  ];
  const run = (inputEnd: InputEnd): string =>
    isTerminal ? 'exec "$@"' : `${runOf(request.stdin ? inputEnd : 'none', token)}\n${SWAP}`;
  return {
    command: [...named(marks), 'sh', '-c', READ_PROGRAM, end],
    program: (inputEnd) => Buffer.from([...before, run(inputEnd), end, ''].join('\n'), 'latin1'),
    refusal: Buffer.from(`exit\n${end}\n`),
    reportBegin: Buffer.from(`${token}:`),
    inputLeft: Buffer.from(`\x1e${token};`),
  };
}

/** Where the connection breaks before the program has come, a terminal is left behind: it can be found by its mark. */
const named = (marks: readonly (readonly [string, string])[]): readonly string[] =>
  marks.length === 0 ? [] : ['env', ...marks.map(([name, value]) => `${name}=${value}`)];

function runOf(input: InputEnd | 'none', token: string): string {
  switch (input) {
    case 'none':
      return `${RUN} </dev/null\nberth_exit=$?`;
    case 'native':
      return runWithInput(token);
    case 'framed':
      return runWithFrames(token);
  }
}

/** Much shorter than the longest line that a terminal passes on, also when each character is quoted. */
const PIECE = 400;
const PIECES = new RegExp(`[\n -~\\x80-\\xff]{1,${PIECE}}|[^\n -~\\x80-\\xff]{1,${PIECE}}`, 'g');
const PLAIN = /^[\n -~\x80-\xff]/;

/** A word for `sh`, as bytes in latin1, in short lines without control characters, which a terminal would take. */
function quoted(word: string): string {
  const pieces = Buffer.from(word).toString('latin1').match(PIECES) ?? [];
  return pieces.length === 0 ? "''" : pieces.map(piece).join('\\\n');
}

const piece = (text: string): string =>
  PLAIN.test(text)
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `"$(printf '${[...text].map((one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')}')"`;
