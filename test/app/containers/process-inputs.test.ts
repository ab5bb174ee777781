import t from 'tap';
import { ProcessInputs } from '../../../src/app/containers/processes/process-inputs.ts';
import { ok, refuse } from '../../../src/domain/result.ts';
import type { ProcessInput } from '../../../src/ports/containers/processes/container-processes.ts';

/** A process whose answers to writes may be lost, before or after it has taken them. */
function aProcess() {
  const inputs = new ProcessInputs();
  let taken = '';
  let loses: 'question' | 'answer' | null = null;
  const unknown = refuse({ code: 'process_outcome_unknown' } as const);
  const write = async ({ data, offset, isNext }: ProcessInput) => {
    const lost = data.length > 0 ? loses : null;
    if (lost !== null) loses = null;
    if (lost === 'question') return unknown;
    if (isNext && offset !== taken.length) return ok({ kind: 'moved', inputOffset: taken.length } as const);
    taken += data;
    return lost === 'answer' ? unknown : ok({ kind: 'taken', inputOffset: taken.length } as const);
  };
  const send = async (writer: string, text: string, offset: number | null = null) => {
    const input = { data: Buffer.from(text), offset, isLast: false };
    const sent = await inputs.write('process', writer, input, write);
    return sent.ok ? sent.value : sent.error.code;
  };
  return {
    send,
    lose: (what: typeof loses) => {
      loses = what;
    },
    addElsewhere: (text: string) => {
      taken += text;
    },
    taken: () => taken,
  };
}

t.test('each writer has offsets of its own', async (t) => {
  const { send, taken, addElsewhere } = aProcess();
  t.same(await send('ada', 'one ', 0), { kind: 'taken', inputOffset: 4 });
  t.same(await send('bob', ''), { kind: 'taken', inputOffset: 4 }, 'from what was there');
  t.same(await send('ada', 'two ', 4), { kind: 'taken', inputOffset: 8 });
  addElsewhere('elsewhere ');
  t.same(await send('bob', 'three ', 4), { kind: 'taken', inputOffset: 10 });
  t.same(await send('bob', 'three four ', 4), { kind: 'taken', inputOffset: 15 }, 'a repeat, and more');
  t.same(await send('ada', 'x', 9), { kind: 'gap', inputOffset: 8 });
  t.equal(taken(), 'one two elsewhere three four ');
});

t.test('input whose fate is unknown is taken once, whoever comes next', async (t) => {
  for (const what of ['question', 'answer'] as const) {
    const { send, lose, taken } = aProcess();
    await send('ada', 'one ', 0);
    lose(what);
    t.equal(await send('ada', 'two ', 4), 'process_outcome_unknown');
    t.same(await send('bob', 'bob '), { kind: 'taken', inputOffset: what === 'answer' ? 12 : 8 }, what);
    t.same(await send('ada', 'two ', 4), { kind: 'taken', inputOffset: 8 }, what);
    t.equal(taken(), what === 'answer' ? 'one two bob ' : 'one bob two ');
  }
});
