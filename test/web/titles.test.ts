import t from 'tap';
import { plainTitle } from '../../web/src/terminal/titles.ts';

t.test("a title that is the host's name is shown as the workspace's", async (t) => {
  t.equal(plainTitle('copies.c2be046fc82f4fb5'), 'copies');
  for (const title of ['', 'vim a.c', 'root@copies: ~', 'notes.txt', 'x.c2be046fc82f4fb'])
    t.equal(plainTitle(title), title);
});
