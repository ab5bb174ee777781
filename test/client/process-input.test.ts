import t, { type Test } from 'tap';
import { Berth } from '../../src/client/index.ts';
import type { Process } from '../../src/client/processes/process.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

/** A process that reads its input, of a client that sends its requests with `fetch`. */
async function aCat(t: Test, fetch: typeof globalThis.fetch): Promise<Process> {
  const service = await aService();
  const server = await serverOf(t, service);
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const box = await new Berth({ server, token, fetch }).create({ name: 'dev', memory_mb: 256 });
  return await box.processes.start(['cat'], { stdin: true });
}

/** A process whose first request with input has no answer that the client could repeat; `taken`: when the process takes it. */
async function aCutWrite(t: Test, taken: 'at once' | 'before the next' | 'never') {
  let first: (() => Promise<unknown>) | null = null;
  let hasArrived = taken === 'never';
  const impatient: typeof fetch = async (...asked) => {
    if (!String(asked[0]).includes('/input')) return await fetch(...asked);
    const isFirst = first === null;
    first ??= () => fetch(...asked);
    // A question for what was taken has a great offset.
    const isNext = !isFirst && !String(asked[0]).includes('offset=100');
    if (!hasArrived && (isNext || taken === 'at once')) {
      hasArrived = true;
      await first();
    }
    return isFirst ? new Response(null, { status: 408 }) : await fetch(...asked);
  };
  const cat = await aCat(t, impatient);
  t.match(await cat.write('first ').catch((failure: unknown) => failure), { status: 408 });
  return cat;
}

/** All output of a process after the end of its input. */
async function printedBy(process: Process): Promise<string> {
  await process.closeInput();
  await process.wait();
  let text = '';
  for await (const piece of process.output) text += piece.text;
  return text;
}

for (const taken of ['at once', 'before the next', 'never'] as const)
  t.test(`the input of a write that failed arrives once, before the next: taken ${taken}`, async (t) => {
    const cat = await aCutWrite(t, taken);
    await cat.write('second');
    t.equal(await printedBy(cat), 'first second');
  });

t.test('the end of the input follows the input of a write that failed', async (t) => {
  t.equal(await printedBy(await aCutWrite(t, 'never')), 'first ');
});

type Refusal = readonly [status: number, code: string];

/** A process whose next requests with input get these refusals. */
async function aRefusedWrite(t: Test, refusals: Refusal[]): Promise<Process> {
  const refusing: typeof fetch = async (...asked) => {
    const isInput = String(asked[0]).includes('/input');
    const [status, code] = (isInput ? refusals.shift() : undefined) ?? [];
    return status === undefined ? await fetch(...asked) : Response.json({ code }, { status });
  };
  return await aCat(t, refusing);
}

t.test('input waits until its container is no longer paused, as while a snapshot is taken', async (t) => {
  const paused: Refusal = [409, 'container_paused'];
  const cat = await aRefusedWrite(t, [paused, paused]);
  await cat.write('first ');
  await cat.write('second');
  t.equal(await printedBy(cat), 'first second');
});

for (const code of ['agent_not_connected', 'container_busy', 'rate_limited', 'http_404'])
  t.test(`the input of a write refused with ${code} arrives before the next`, async (t) => {
    const status = { rate_limited: 429, http_404: 404 }[code] ?? 409;
    const cat = await aRefusedWrite(t, [[status, code]]);
    await t.rejects(cat.write('first '), { code });
    await cat.write('second');
    t.equal(await printedBy(cat), 'first second');
  });

t.test('a refusal that no repeat changes drops its input', async (t) => {
  const refusals: Refusal[] = [];
  const cat = await aRefusedWrite(t, refusals);
  const final: Refusal[] = [
    [400, 'http_400'],
    [413, 'http_413'],
    [404, 'container_not_found'],
    [404, 'process_not_found'],
    [409, 'container_not_running'],
    [409, 'process_ended'],
    [409, 'process_input_closed'],
    [409, 'process_input_gap'],
    [409, 'process_without_input'],
  ];
  for (const refusal of final) {
    refusals.push(refusal);
    await t.rejects(cat.write('dropped '), { code: refusal[1] });
  }
  // The client asks first how much the process has.
  refusals.push([409, 'container_paused']);
  await cat.write('the rest');
  t.equal(await printedBy(cat), 'the rest');
});
