import { SecretDialog } from '../../secret-dialog.tsx';

export type MadeLink = { readonly title: string; readonly words: string; readonly url: string };

/** The link, this once. */
export const LinkDialog = ({ made, onClose }: { readonly made: MadeLink; readonly onClose: () => void }) => (
  <SecretDialog
    title={made.title}
    words={`${made.words} Copy it now: it is not shown again.`}
    secret={made.url}
    label="Copy the link"
    onClose={onClose}
  />
);
