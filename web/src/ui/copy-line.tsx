import { CopyButton } from './copy-button.tsx';

/** A line for a shell, with a button that copies it. */
export const CopyLine = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div class="secret">
    <code class="command-line">{text}</code>
    <CopyButton text={text} label={label} />
  </div>
);
