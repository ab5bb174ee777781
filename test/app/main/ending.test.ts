import path from 'node:path';
import t from 'tap';
import { moduleAt, runModule } from '../../support/child.ts';

const ENDING = moduleAt(path.resolve('src/app/main/process/exit.ts'));

/** A process that ends when told; its stop takes until `isStopped`. It prints what is logged as fatal. */
const aProcess = (then: string, isStopped = 'Promise.resolve()'): string =>
  `import { endWhenTold } from ${ENDING};
   const log = { fatal: ({ err, origin }, text) => console.log(origin + ' ' + err.message + ': ' + text) };
   endWhenTold(log, () => ${isStopped});
   setInterval(() => {}, 1_000);
   ${then}`;

const FAULTS = [
  ['an error that nothing catches', 'setImmediate(() => { throw new Error("loose"); })', 'uncaughtException'],
  ['a promise that nobody waits for', 'Promise.reject(new Error("loose"))', 'unhandledRejection'],
] as const;

for (const [name, fault, origin] of FAULTS) {
  t.test(`${name} stops the service in order, is logged, and the exit code says so`, async (t) => {
    const { line, ended } = runModule(t, aProcess(fault));
    t.equal(await line(), `${origin} loose: uncaught error: stopping the service`);
    t.match(await line(), /Stopping/);
    t.equal(await ended, 70);
  });
}

t.test('a second signal ends a process at once that is still stopping', async (t) => {
  const { line, ended, errors, process } = runModule(
    t,
    aProcess('console.log("here");', 'new Promise(() => {})'),
  );
  t.equal(await line(), 'here');
  process.kill('SIGTERM');
  t.match(await line(), /Stopping/);
  process.kill('SIGTERM');
  t.equal(await ended, 1);
  t.match(errors(), /did not shut down cleanly: a second signal arrived/);
});
