import type { Container } from '../../../api/types.ts';

export type ActDialogProps = {
  readonly container: Container;
  /** The list may have changed. */
  readonly onDone: () => void;
  readonly onClose: () => void;
};
