import { EventEmitter } from 'node:events';
import t from 'tap';
import { socketLine } from '../../../src/adapters/websocket/agents/socket-line.ts';
import { standingTime } from '../../support/time.ts';

/** A machine's socket, which takes what it is sent when told to. */
function aMachine() {
  const waiting: { readonly bytes: number; readonly sent: () => void }[] = [];
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    isCutOff: false,
    send(message: Uint8Array, sent: () => void) {
      socket.bufferedAmount += message.length;
      waiting.push({ bytes: message.length, sent });
    },
    terminate() {
      socket.isCutOff = true;
      socket.emit('close');
    },
  });
  return {
    socket,
    line: socketLine(socket as never, () => {}),
    says: () => socket.emit('message', Buffer.alloc(9)),
    takes(count: number) {
      for (const { bytes, sent } of waiting.splice(0, count)) {
        socket.bufferedAmount -= bytes;
        sent();
      }
    },
  };
}

const PIECE = new Uint8Array(16_384);

t.test('a machine that takes nothing for a minute is cut off, though it says something', async (t) => {
  const time = standingTime(t);
  const { socket, line, says, takes } = aMachine();
  const pass = (seconds: number): void => {
    for (let left = seconds; left > 0; left -= 10) {
      time.pass(10_000);
      says();
    }
  };
  for (let sent = 0; sent < 6; sent += 1) line.send(PIECE);
  for (let slow = 0; slow < 5; slow += 1) {
    pass(50);
    takes(1);
  }
  t.notOk(socket.isCutOff, 'a slow one takes something each minute');
  pass(60);
  t.ok(socket.isCutOff);
});

t.test('a machine that has taken all may wait for ever', async (t) => {
  const time = standingTime(t);
  const { socket, line, says, takes } = aMachine();
  line.send(PIECE);
  takes(1);
  for (let pings = 0; pings < 30; pings += 1) {
    time.pass(10_000);
    says();
  }
  t.notOk(socket.isCutOff);
});

t.test('a silent machine is cut off within 25 s: its pings come each 10 s', async (t) => {
  const time = standingTime(t);
  const { socket, says } = aMachine();
  time.pass(24_000);
  says();
  time.pass(24_000);
  t.notOk(socket.isCutOff);
  time.pass(1_000);
  t.ok(socket.isCutOff);
});
