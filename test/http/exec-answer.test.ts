import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { execAnswer, jsonOf } from '../../src/adapters/http/exec-answer.ts';

const MIB = 1_048_576;
const result = (stdout: Buffer, stderr: Buffer = Buffer.alloc(0)) => ({
  ...{ exitCode: 0, stdout, stderr, truncated: false, durationMs: 7 },
});
const answered = async (stdout: Buffer, stderr?: Buffer): Promise<string> => {
  const answer = execAnswer(result(stdout, stderr));
  return typeof answer === 'string' ? answer : await text(answer);
};

t.test('control bytes do not multiply an answer', async (t) => {
  const body = await answered(Buffer.alloc(MIB), Buffer.alloc(MIB, 0x1b));
  t.ok(body.length < 4 * MIB + 200, `${body.length} bytes`);
  const { stdout, stderr, truncated } = JSON.parse(body);
  t.equal(stdout.length, Math.floor((2 * MIB) / 6));
  t.equal(stderr.length, Math.floor((2 * MIB) / 6));
  t.ok(truncated, 'and the answer says that it is cut');
  t.ok(JSON.parse(await answered(Buffer.alloc(MIB, 0xff))).truncated, 'no text at all');
});

t.test('text is never cut for its size as JSON', async (t) => {
  for (const line of ['\n', '"', '\\', 'x', 'grüße, 漢字 😀\n']) {
    const whole = line.repeat(Math.floor(MIB / Buffer.byteLength(line)));
    const body = JSON.parse(await answered(Buffer.from(whole)));
    t.equal(body.stdout, whole, JSON.stringify(line));
    t.same([body.exit_code, body.stderr, body.truncated, body.duration_ms], [0, '', false, 7]);
  }
});

t.test('a cut falls between characters', async (t) => {
  for (let limit = 0; limit < 20; limit += 1) {
    const body = JSON.parse([...jsonOf(result(Buffer.from('a\u0000😀"ü')), limit)].join(''));
    t.ok('a\u0000😀"ü'.startsWith(body.stdout), `${limit}: ${JSON.stringify(body.stdout)}`);
    t.equal(body.truncated, limit < 1 + 6 + 4 + 2 + 2);
  }
});

t.test('a long answer is made as it is read, a short one at once', async (t) => {
  t.type(execAnswer(result(Buffer.from('short'))), 'string');
  const answer = execAnswer(result(Buffer.alloc(MIB)));
  t.type(answer, Readable);
  await new Promise((resolve) => (answer as Readable).once('readable', resolve));
  t.ok((answer as Readable).readableLength < 300_000, 'not ahead of its reader');
});
