import { EventEmitter } from 'node:events';
import t from 'tap';
import { keepAlive } from '../../../src/adapters/websocket/heartbeat.ts';
import { inputLimit } from '../../../src/adapters/websocket/input-limit.ts';
import { SocketRest } from '../../../src/adapters/websocket/socket-reader.ts';
import { standingTime } from '../../support/time.ts';

const MIB = 1_048_576;

/** The other end of a line: whether it answers pings, and when it was given up. */
function aPeer() {
  const peer = Object.assign(new EventEmitter(), {
    answers: true,
    endedAtMs: null as number | null,
    nowMs: () => 0,
    ping: () => void (peer.answers && peer.emit('pong', Buffer.alloc(0))),
    terminate: () => {
      peer.endedAtMs = peer.nowMs();
      peer.emit('close');
    },
  });
  return peer;
}

t.test('a peer that is gone is noticed within 75 s, whenever its line was lost', async (t) => {
  for (const lostMs of [0, 100, 29_900, 30_000, 30_100, 61_000, 89_900]) {
    await t.test(`after ${lostMs} ms`, async (t) => {
      const time = standingTime(t);
      const peer = Object.assign(aPeer(), { nowMs: time.nowMs });
      let pongs = 0;
      keepAlive(peer as never, () => {
        pongs += 1;
      });
      time.pass(lostMs);
      peer.answers = false;
      t.equal(pongs, Math.floor(lostMs / 30_000));
      time.pass(120_000);
      const tookMs = (peer.endedAtMs ?? Number.POSITIVE_INFINITY) - lostMs;
      t.ok(tookMs <= 75_000, `${tookMs} ms`);
      t.ok(tookMs >= 40_000, 'and not for a single ping');
    });
  }
});

t.test('a peer that answers late stays, and one that is closed is left alone', async (t) => {
  const time = standingTime(t);
  const peer = Object.assign(aPeer(), { nowMs: time.nowMs, answers: false });
  keepAlive(peer as never, () => {});
  for (let round = 0; round < 5; round += 1) {
    time.pass(60_000);
    peer.emit('pong', Buffer.alloc(0));
  }
  t.equal(peer.endedAtMs, null);
  peer.emit('close');
  time.pass(200_000);
  t.equal(peer.endedAtMs, null);
});

t.test('a socket that sends too fast is left unread for a while', async (t) => {
  const time = standingTime(t);
  const happened: string[] = [];
  const rest = new SocketRest({
    pause: () => void happened.push('pause'),
    resume: () => void happened.push('resume'),
  });
  // Each frame counts for 64 bytes more than it has.
  const FRAME = MIB - 64;
  const came = inputLimit(rest, time.nowMs);
  came(FRAME);
  came(FRAME);
  t.same(happened, [], 'a paste goes through');
  came(FRAME);
  time.pass(900);
  t.same(happened, ['pause']);
  time.pass(100);
  t.same(happened, ['pause', 'resume']);
  rest.begin('program');
  came(FRAME);
  time.pass(5_000);
  t.same(happened, ['pause', 'resume', 'pause'], 'nor is it read while the program takes nothing');
  t.notOk(rest.begin('program'));
  rest.end('program');
  rest.end('program');
  t.same(happened, ['pause', 'resume', 'pause', 'resume']);
});
