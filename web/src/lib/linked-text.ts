/** A piece of a text; `href` only where it is an address. */
export type TextPart = { readonly text: string; readonly href?: string };

/** Addresses by `https` alone, without the punctuation that ends a sentence. */
const ADDRESS = /https:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/g;

/** The text in pieces, so that a page links its `https` addresses and nothing else. */
export function linkedText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    if (!URL.canParse(address)) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ text: address, href: address });
    end = index + address.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}
