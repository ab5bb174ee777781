import { EventEmitter } from 'node:events';
import t from 'tap';
import type { WebSocket } from 'ws';
import { CHANNEL, messageOf } from '../../../../src/adapters/kubernetes/exec/exec-messages.ts';
import { ProgramStream } from '../../../../src/adapters/kubernetes/exec/program-stream.ts';
import { waitFor } from '../../../support/patience.ts';

/** A program over a socket that is `open` or fails to send. */
function aProgram() {
  const socket = Object.assign(new EventEmitter(), {
    isOpen: true,
    isPaused: false,
    resume: () => {},
    terminate: () => {},
    send: (_message: Buffer, done: (error?: Error) => void) =>
      done(socket.isOpen ? undefined : new Error('closed')),
  });
  const start = { reportBegin: Buffer.from('begun'), inputLeft: Buffer.from('left') };
  const options = {
    socket: socket as unknown as WebSocket,
    form: 'terminal',
    inputEnd: 'native',
    start,
  } as const;
  return { socket, stream: new ProgramStream(options) };
}

t.test('input that the cluster did not get is not acknowledged', async (t) => {
  const { socket, stream } = aProgram();
  const done: string[] = [];
  const write = (text: string) => stream.write(text, (error) => void (error ?? done.push(text)));
  write('sent');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(done, ['sent']);
  socket.isOpen = false;
  write('lost');
  write('waiting');
  const resized = stream.resize(80, 24);
  await new Promise((resolve) => setImmediate(resolve));
  socket.emit('close');
  await resized;
  t.same(done, ['sent']);
});

t.test('a program that ends before its input arrives closes its stream', async (t) => {
  const { socket, stream } = aProgram();
  const done: string[] = [];
  const success = Buffer.from(JSON.stringify({ metadata: {}, status: 'Success' }));
  socket.emit('message', messageOf(CHANNEL.status, success));
  socket.isOpen = false;
  stream.write('late', (error) => void (error ?? done.push('late')));
  await new Promise((resolve) => setImmediate(resolve));
  socket.emit('close');
  stream.resume();
  await waitFor(() => stream.closed, { what: 'the stream closes' });
  t.ok(stream.readableEnded);
  t.equal(stream.errored, null);
  t.same(done, [], 'its input is not acknowledged');
});
