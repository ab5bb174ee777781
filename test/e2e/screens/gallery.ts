import type { Size } from './world.ts';

/** `form`: of the picture; null for a check alone. */
export type Form = {
  readonly form: 'light' | 'dark' | 'phone' | null;
  readonly theme: 'light' | 'dark';
};

/** The pictures and checks of each scene, by the size of the window. */
export const FORMS: readonly (readonly [Size, readonly Form[]])[] = [
  [
    'wide',
    [
      { form: 'light', theme: 'light' },
      { form: 'dark', theme: 'dark' },
    ],
  ],
  [
    'phone',
    [
      { form: 'phone', theme: 'light' },
      { form: null, theme: 'dark' },
    ],
  ],
];

const STYLE = `body{font:14px system-ui;margin:24px;color-scheme:light dark}section{display:grid;
grid-template-columns:3fr 3fr 1fr;gap:12px;margin:0 0 32px}h2{grid-column:1/-1;margin:0}img{width:100%;border:1px solid #8888}`;

/** A page with all pictures. */
export function indexOf(names: readonly string[]): string {
  const forms = FORMS.flatMap(([, each]) => each.flatMap(({ form }) => form ?? []));
  const picture = (file: string): string =>
    `<a href="${file}"><img loading="lazy" src="${file}" alt="${file}"></a>`;
  const sections = names.map(
    (name) =>
      `<section id="${name}"><h2>${name}</h2>${forms.map((form) => picture(`${name}-${form}.png`)).join('')}</section>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>Screens</title><style>${STYLE}</style>${sections.join('\n')}\n`;
}
