/**
 * xterm.js writes rules into `<style>` elements and styles into `style` attributes; the page's content security
 * policy forbids both. Here they become constructed style sheets and properties of `style`, which it allows, so
 * that the policy needs no exception.
 */

const original = (tag: string): HTMLElement => Document.prototype.createElement.call(document, tag);

/** Looks like a `<style>` to who fills and removes it. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const element = original('template');
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return element;
}

/** Runs `work`, in which the page makes style sheets instead of `<style>` elements. */
export function withAllowedStyles(work: () => void): void {
  const createElement = (tag: string): HTMLElement => (tag === 'style' ? sheetElement() : original(tag));
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
}

/** The renderer without WebGL gives each coloured run of characters, a span, its style as an attribute. */
HTMLSpanElement.prototype.setAttribute = function (name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};
