import t, { type Test } from 'tap';
import { eventually } from '../contract/bus.ts';
import { aPerson, aService } from '../support/service.ts';
import { terminalClient } from '../support/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../support/terminals.ts';

const HISTORY = '[history]';
const PIECE = Buffer.alloc(65_536, '.');

/** A terminal that has a history, and all frames of its client in the order they came; text frames by their type. */
async function aTerminal(t: Test) {
  const programs = fakeTerminals();
  let looks = 0;
  const terminalBackend: typeof programs = {
    ...programs,
    async open(...args) {
      const pty = await programs.open(...args);
      const lookBack = async () => {
        looks += 1;
        pty.stream.unshift(Buffer.from(HISTORY));
        return 'shell' as const;
      };
      return { ...pty, lookBack };
    },
  };
  const service = await aService({ terminalBackend });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const client = await terminalClient({ address: await listening(t, service), dbId, token: ada.token });
  const frames: string[] = [];
  client.socket.on('message', (data, isBinary) => {
    frames.push(isBinary ? String(data) : `<${JSON.parse(String(data)).type}>`);
  });
  const [program] = programs.opened;
  if (program === undefined) throw new Error('nothing was opened');
  return {
    client,
    program,
    looks: () => looks,
    shown: () => frames.join('').replace(/\.+/g, '.'),
    askBack: () => client.socket.send('{"type":"look_back"}'),
  };
}

t.test('what is on the screen is told behind the history that it is about', async (t) => {
  await t.test('while output is joined', async (t) => {
    const { client, program, shown, askBack } = await aTerminal(t);
    program.stream.once('data', askBack);
    for (let pieces = 0; pieces < 40; pieces += 1) program.say(PIECE.subarray(0, 1_000));
    await client.until(() => shown().includes('<on_screen>'));
    t.match(shown(), /\[history\]\.?<on_screen>/);
  });

  await t.test('while its reader is slow', async (t) => {
    const { client, program, looks, shown, askBack } = await aTerminal(t);
    client.socket.pause();
    for (let sum = 0; sum < 64; sum += 1) program.say(PIECE);
    t.ok(await eventually(() => program.stream.isPaused()));
    askBack();
    t.ok(await eventually(() => looks() === 1));
    askBack();
    program.say('end');
    client.socket.resume();
    await client.until(() => shown().endsWith('end') && shown().includes('<on_screen>'));
    t.match(shown(), /^\.\[history\]\.?<on_screen>\.?end$/);
    t.equal(looks(), 1, 'one answer is enough for both');
  });
});

t.test('it is told at once when nothing comes before it', async (t) => {
  const { client, program, shown, askBack } = await aTerminal(t);
  program.say('.');
  await client.until(() => shown() === '.');
  for (const looked of [1, 2]) {
    askBack();
    await client.until(() => shown() === `.${`${HISTORY}<on_screen>`.repeat(looked)}`);
  }
  t.pass();
});
