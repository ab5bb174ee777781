import { usesLongList } from '../../../support/browser/long-list.ts';
import { test } from '../../../support/browser/memory-page.ts';

test('a list of 1,000 containers stays whole, fresh and small', (t, browser, paged) =>
  usesLongList(t, browser, paged, 1_000));
