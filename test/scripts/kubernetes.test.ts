import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { compareRights } from '../../scripts/lib/kubernetes/rights.mjs';

const request = (verb: string, resource: string, code: number, subresource?: string): string =>
  JSON.stringify({ verb, objectRef: { resource, subresource }, responseStatus: { code } });

t.test('rights are compared with the requests of the account', async (t) => {
  const audit = path.join(t.testdir(), 'audit.log');
  const lines = [
    request('create', 'pods', 201),
    request('get', 'pods', 101, 'exec'),
    // Over a quota: the right is there.
    request('create', 'pods', 403),
    request('list', 'nodes', 403),
    request('list', 'nodes', 403),
  ];
  writeFileSync(audit, `${lines.join('\n')}\n`);
  const rules = [
    { resources: ['pods', 'secrets'], verbs: ['create'] },
    { resources: ['pods/exec'], verbs: ['get', 'create'] },
  ];
  t.same(compareRights(audit, rules), { unused: ['create secrets'], missing: ['list nodes'] });
});
