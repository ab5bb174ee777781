import { usesLongList } from '../../../support/browser/long-list.ts';
import { test } from '../../../support/browser/memory-page.ts';

test('a list of as many containers as a tier allows stays whole, fresh and small', (t, browser, paged) =>
  usesLongList(t, browser, paged, 9_998));
