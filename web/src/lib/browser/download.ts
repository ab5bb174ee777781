/** Hands content to the browser as a file to keep. */
export function saveAs(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // why: some browsers read it only after the click has been handled
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
