import t from 'tap';
import { ProcessInputs } from '../../../src/app/containers/processes/process-inputs.ts';
import { inputBuffer } from '../../../src/client/terminal/input-buffer.ts';
import { ok, refuse } from '../../../src/domain/result.ts';
import type { ProcessInput } from '../../../src/ports/containers/processes/container-processes.ts';

/** A process whose answers to writes may be lost, before or after it has taken them. */
function aProcess() {
  const replicas = [new ProcessInputs(), new ProcessInputs()] as const;
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
  const send = async (writer: string, text: string, offset: number | null = null, replica: 0 | 1 = 0) => {
    const input = { data: Buffer.from(text), offset, isLast: false };
    const sent = await replicas[replica].write('process', writer, input, write);
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

/** A client as it types over connections to one replica or the other. */
function aClient(send: ReturnType<typeof aProcess>['send'], writer: string) {
  const buffer = inputBuffer();
  let replica: 0 | 1 = 0;
  let next = 0;
  const attach = async (to: 0 | 1) => {
    replica = to;
    const ready = await send(writer, '', null, replica);
    next = typeof ready === 'object' && 'inputOffset' in ready ? ready.inputOffset : Number.NaN;
    buffer.rewind(next);
  };
  const type = async (text: string, { isAcknowledged = true } = {}) => {
    buffer.push(Buffer.from(text));
    for (let piece = buffer.next(); piece !== null; piece = buffer.next()) {
      await send(writer, Buffer.from(piece).toString(), next, replica);
      next += piece.length;
      if (isAcknowledged) buffer.acknowledge(next);
    }
  };
  return { attach, type, pendingBytes: () => buffer.pendingBytes() };
}

t.test('a client that moves between replicas is heard once', async (t) => {
  for (const isAcknowledged of [true, false]) {
    const { send, taken } = aProcess();
    const ada = aClient(send, 'ada');
    await ada.attach(0);
    await ada.type('one ');
    await ada.attach(1);
    await ada.type('two ', { isAcknowledged });
    await ada.attach(0);
    await ada.type('three ');
    await ada.attach(1);
    await ada.attach(0);
    await ada.type('four ');
    t.equal(taken(), 'one two three four ');
    t.equal(ada.pendingBytes(), 0);
  }
});

t.test('nor is a client counted wrong that comes back after another has seen its input', async (t) => {
  const { send, taken } = aProcess();
  const ada = aClient(send, 'ada');
  const bob = aClient(send, 'bob');
  await ada.attach(0);
  await bob.attach(0);
  await ada.type('one ');
  await ada.attach(1);
  await ada.type('two ');
  await bob.type('bob ');
  await ada.attach(0);
  await ada.type('three ');
  await bob.type('again ');
  t.equal(taken(), 'one two bob three again ');
});

t.test('input of a client that was forgotten while it is connected is taken', async (t) => {
  const { send, taken } = aProcess();
  await send('ada', '');
  await send('ada', 'one ', 0);
  for (let count = 0; count < 1_100; count += 1) await send(`other ${count}`, '.');
  t.same(await send('ada', 'two ', 4), { kind: 'taken', inputOffset: 8 });
  t.match(taken(), /^one [.]{1100}two $/);
});
