import { useEffect, useRef, useState } from 'preact/hooks';
import { listDeleted, pageOfContainers } from '../../api/containers/containers.ts';
import type { Container } from '../../api/types.ts';

const PAUSE_MS = 120;
/** A shorter word finds too much. */
const LEAST_LENGTH = 2;

const read = async (q: string) =>
  await pageOfContainers({ shared: '', q, status: '', sort: '-last_used_at' }, null);

/** The user's containers, last used first: the first part of them, then those that any word of the text has found. */
export function useContainersFor(text: string): readonly Container[] {
  const [found, setFound] = useState<readonly Container[]>([]);
  const [isAll, setIsAll] = useState(true);
  const asked = useRef(new Set<string>());
  const add = (items: readonly Container[]): void =>
    setFound((before) => {
      const known = new Set(before.map(({ db_id }) => db_id));
      return [...before, ...items.filter(({ db_id }) => !known.has(db_id))];
    });
  const find = (word: string): void => {
    asked.current.add(word);
    read(word).then(
      ({ items }) => add(items),
      () => asked.current.delete(word),
    );
  };
  useEffect(() => {
    // why: without them the palette still has its pages and actions
    read('').then(
      ({ items, next }) => {
        add(items);
        setIsAll(next === null);
      },
      () => {},
    );
  }, []);
  const words = text.split(/\s+/).filter((word) => word.length >= LEAST_LENGTH);
  useEffect(() => {
    if (isAll) return;
    const timer = setTimeout(() => {
      for (const word of words) if (!asked.current.has(word)) find(word);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isAll, words.join(' ')]);
  return found;
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
