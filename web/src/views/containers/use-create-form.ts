import { useEffect, useRef, useState } from 'preact/hooks';
import { randomKey } from '../../../../src/client/random-key.ts';
import { createContainer } from '../../api/containers/containers.ts';
import { BerthError } from '../../api/errors.ts';
import type { Container, NewContainer } from '../../api/types.ts';
import { navigate } from '../../lib/browser/router.ts';
import { requireWholeNumbers } from '../../lib/format/whole-number.ts';
import { isUnknown } from '../../lib/outcome.ts';
import { suggestName } from '../../lib/suggested-names.ts';
import { containers, refreshContainers } from '../../state/container-list.ts';
import { toastFailure, toastOk } from '../../state/toasts.ts';
import { useSubmit } from '../auth/use-submit.ts';

const FIELDS = ['name', 'image', 'role', 'memory_mb', 'cpu_shares', 'disk_mb'];

const firstBody = (): NewContainer => ({
  name: suggestName((containers.value ?? []).map(({ name }) => name)),
});

const ASK_AGAIN_MS = 2_000;

/** Whether the request may still succeed: it is in progress or got no answer. Its key can be sent again and creates no duplicate. */
const mayStillCome = (failure: unknown): boolean =>
  isUnknown(failure) || (failure instanceof BerthError && failure.code === 'idempotency_key_busy');

/** Asks until there is an answer. `unsure`: there was none so far. */
async function createOnce(body: NewContainer, key: string, unsure: () => void): Promise<Container> {
  for (;;) {
    try {
      return await createContainer(body, key);
    } catch (failure) {
      if (!mayStillCome(failure)) throw failure;
      unsure();
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

/** The form of a new container. If its dialog is closed meanwhile, a toast reports the outcome. */
export function useCreating(onClose: () => void) {
  const [body, setBody] = useState(firstBody);
  const key = useRef(randomKey());
  const closed = useRef(false);
  const [unsure, setUnsure] = useState(false);
  useEffect(
    () => () => {
      closed.current = true;
    },
    [],
  );

  const correct = (fieldsOf: (before: NewContainer) => Partial<NewContainer>): void => {
    key.current = randomKey();
    setBody((before) => ({ ...before, ...fieldsOf(before) }));
  };
  const change = (fields: Partial<NewContainer>): void => correct(() => fields);

  /** Goes to the new shell, or stays with the list while the image still comes. */
  const arrive = (made: Container): void => {
    if (made.status !== 'running') toastOk(`${made.name} is being prepared; the list shows when it is ready`);
    else if (closed.current) toastOk(`${made.name} is running`);
    else navigate(`/containers/${made.db_id}`);
    onClose();
    void refreshContainers(made.db_id);
  };

  const form = useSubmit(async () => {
    try {
      requireWholeNumbers(body);
      arrive(await createOnce(body, key.current, () => setUnsure(true)));
    } catch (failure) {
      key.current = randomKey();
      void refreshContainers();
      if (closed.current) toastFailure(failure);
      throw failure;
    } finally {
      setUnsure(false);
    }
  }, FIELDS);
  return { body, change, correct, form, isUnsure: unsure };
}
