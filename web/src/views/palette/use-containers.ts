import { useEffect, useState } from 'preact/hooks';
import { listDeleted, pageOfContainers } from '../../api/containers/containers.ts';
import type { Container } from '../../api/types.ts';

const PAUSE_MS = 120;

const read = async (q: string) =>
  await pageOfContainers({ shared: '', q, status: '', sort: '-last_used_at' }, null);

/** The user's containers, last used first: the first part of them, and those that the text's words find. */
export function useContainersFor(text: string): readonly Container[] {
  const [recent, setRecent] = useState<readonly Container[]>([]);
  const [isAll, setIsAll] = useState(true);
  const [found, setFound] = useState<readonly Container[]>([]);
  useEffect(() => {
    // why: without them the palette still has its pages and actions
    read('').then(
      ({ items, next }) => {
        setRecent(items);
        setIsAll(next === null);
      },
      () => {},
    );
  }, []);
  const words = text.trim().split(/\s+/);
  const word = words.toSorted((a, b) => b.length - a.length)[0] ?? '';
  useEffect(() => {
    if (isAll || word.length < 2) return;
    const timer = setTimeout(() => {
      read(word).then(
        ({ items }) => setFound(items),
        () => {},
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isAll, word]);
  const known = new Set(recent.map(({ db_id }) => db_id));
  return [...recent, ...found.filter(({ db_id }) => !known.has(db_id))];
}

/** The user's deleted containers that can be restored. */
export function useDeletedContainers(): readonly Container[] {
  const [deleted, setDeleted] = useState<readonly Container[]>([]);
  useEffect(() => {
    // why: without them the palette still has the rest
    listDeleted().then(setDeleted, () => {});
  }, []);
  return deleted;
}
