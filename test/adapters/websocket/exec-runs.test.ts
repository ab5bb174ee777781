import t from 'tap';
import type { ExecCommand } from '../../../src/adapters/websocket/exec/exec-command.ts';
import { ExecRuns, MAX_WAITING } from '../../../src/adapters/websocket/exec/exec-runs.ts';
import type { AuthorizedConnection } from '../../../src/app/identity/auth/authorized-connections.ts';
import type { Caller } from '../../../src/domain/identity/caller.ts';
import { waitFor } from '../../support/patience.ts';

const callerOf = (id: string): Caller => ({ user: { id } }) as Caller;

function aScene(resumeWithinMs: number) {
  const registered = new Set<AuthorizedConnection>();
  const live = {
    register(connection: AuthorizedConnection) {
      registered.add(connection);
      return { use: () => true, end: () => void registered.delete(connection) };
    },
  };
  const runs = new ExecRuns({ live, mayStay: () => true, resumeWithinMs });
  const ended: string[] = [];
  const answered: string[] = [];
  const lose = (name: string, user = 'ada'): ExecCommand => {
    const command = {
      end: () => ended.push(name),
      lose: () => answered.push(name),
    } as unknown as ExecCommand;
    runs.add(name, command);
    runs.wait(name, command, callerOf(user));
    return command;
  };
  return { runs, registered, ended, answered, lose };
}

t.test('a command waits until its time is over, or until its client returns', async (t) => {
  const { runs, registered, ended, lose } = aScene(50);
  const one = lose('one');
  t.equal(runs.find('one'), one);
  t.equal(registered.size, 0, 'its socket is checked, not the wait');
  lose('two');
  await waitFor(() => ended.includes('two'), { what: 'the time is over' });
  t.same([runs.find('two'), registered.size, ended], [null, 0, ['two']]);
});

t.test('a user has only so many that wait', async (t) => {
  const { runs, ended, answered, lose } = aScene(60_000);
  for (let n = 0; n <= MAX_WAITING; n += 1) lose(`ada ${n}`);
  t.same(ended, [`ada ${MAX_WAITING}`]);
  lose('bob 0', 'bob');
  t.ok(runs.find('bob 0'), "others' do not count");
  runs.shut();
  lose('late', 'bob');
  t.same(answered.length, MAX_WAITING + 1, 'the client of each is answered');
  t.same(new Set(ended).size, MAX_WAITING + 3, 'a service that stops ends all commands, and keeps no more');
});

t.test('a credential that ends takes its waiting command along', async (t) => {
  const { registered, ended, lose } = aScene(60_000);
  lose('one');
  for (const { close } of registered) close();
  t.same([ended, registered.size], [['one'], 0]);
});
