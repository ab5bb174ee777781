import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../lib/browser/clipboard.ts';
import { IconButton } from './button.tsx';

/** Copies `text`, and confirms it for a moment. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={() => void copyText(text).then(setCopied)}
    />
  );
}
