import t from 'tap';
import { namesIn, toolsHint } from '../../web/src/lib/tools.ts';

const role = (...apt: string[]) => ({ packages: { apk: [], apt } });

t.test('what a role brings is told in a short line', async (t) => {
  t.equal(toolsHint(undefined), 'What the image has.');
  t.equal(toolsHint(role()), 'What the image has.');
  t.equal(toolsHint(role('jq')), 'Adds jq.');
  t.equal(toolsHint(role('nodejs', 'npm')), 'Adds nodejs, npm.');
  t.equal(toolsHint(role('ansible-core', 'bind9-dnsutils', 'jq')), 'Adds ansible-core, jq and 1 more.');
  t.equal(toolsHint(role('x'.repeat(60), 'jq')), `Adds ${'x'.repeat(60)} and 1 more.`);
});

t.test('names are separated by whatever people put between them', async (t) => {
  t.same(namesIn(' ruby,  ruby-dev\ng++ '), ['ruby', 'ruby-dev', 'g++']);
  t.same(namesIn('  '), []);
});
