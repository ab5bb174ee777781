/**
 * xterm.js writes rules into `<style>` elements and styles into `style` attributes, both of which the page's
 * content security policy forbids. Here they become a constructed style sheet and properties of `style`, which
 * it allows, so that the policy needs no exception.
 */

const original = (tag: string): HTMLElement => Document.prototype.createElement.call(document, tag);

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

function spanElement(): HTMLElement {
  const element = original('span');
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

function createElement(tag: string): HTMLElement {
  if (tag === 'style') return sheetElement();
  return tag === 'span' ? spanElement() : original(tag);
}

/** The page's document as xterm.js should see it; for its option `documentOverride`. */
export function styledDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return createElement;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Runs `work` with the page's own document doing the same: xterm.js 6.0's scroll bar asks no override. */
export function withStyledDocument(work: () => void): void {
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
}
