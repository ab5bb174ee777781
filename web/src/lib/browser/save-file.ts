const LATER_MS = 60_000;

/** Hands a file to the browser's downloads. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // why: the browser may still be reading it
  setTimeout(() => URL.revokeObjectURL(url), LATER_MS);
}
