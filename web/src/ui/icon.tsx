const PATHS = {
  anchor:
    'M12 7.4V21M8 11h8M3.5 13.5C4 18 7.5 21 12 21s8-3 8.5-7.5M14.4 5a2.4 2.4 0 1 1-4.8 0 2.4 2.4 0 0 1 4.8 0',
  plus: 'M12 5v14M5 12h14',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2',
  box: 'M12 3.5l7.500 4.200v8.600L12 20.500l-7.500-4.200V7.700zM4.500 7.700L12 12l7.500-4.300M12 12v8.500',
  shield: 'M12 3.5l7 2.800v5.200c0 4.300-2.900 7.500-7 9-4.100-1.500-7-4.700-7-9V6.300z',
  help: 'M20.500 12a8.500 8.500 0 1 1-17 0 8.500 8.500 0 0 1 17 0M9.600 9.700a2.450 2.450 0 1 1 3.600 2.200c-.8.450-1.200.900-1.200 1.700M12 16.400v.01',
  screen: 'M3.500 5h17v11h-17zM9 20h6M12 16v4',
  code: 'M8.500 8L4.500 12l4 4M15.500 8l4 4-4 4M13.500 5.500l-3 13',
  minus: 'M5 12h14',
  search: 'M20 20l-4.2-4.2M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0',
  terminal: 'M5 8l4 4-4 4M12 16h7',
  record: '',
  recordings: 'M3.500 5h17v14h-17zM10 9v6l5-3z',
  play: 'M8 5.5v13l10.5-6.5z',
  stop: 'M7 7h10v10H7z',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.2 11v5M13.8 11v5',
  copy: 'M9 9h10.5v10.5H9zM15 9V4.5H4.5V15H9',
  paste: 'M9 5H6v15.5h12V5h-3M9 3.5h6v3H9z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  dots: 'M12 5.5v.01M12 12v.01M12 18.5v.01',
  sun: 'M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.4 1.4M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0',
  moon: 'M20 14.2A8 8 0 0 1 9.8 4 8.3 8.3 0 1 0 20 14.2z',
  keyboard: 'M3.5 6.5h17v11h-17zM7 10v.01M10.3 10v.01M13.7 10v.01M17 10v.01M8 14h8',
  leave: 'M14 5H5.5v14H14M11 12h9.5M17 8.5l3.5 3.5-3.5 3.5',
  back: 'M15 5l-7 7 7 7',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  space: 'M4.5 5.5h15v13h-15zM4.5 13.5h15M8 16v.01M11.5 16v.01',
  warning: 'M12 9v4.5M12 17v.01M12 3.5L2.5 20h19z',
  lock: 'M6 11h12v9H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11',
  key: 'M11.5 15.5a4 4 0 1 1-8 0 4 4 0 0 1 8 0M10.5 12.7L19 4.2M15.5 7.5l3 3',
  gear: 'M4 7h9M18 7h2M4 17h2M11 17h9M17.5 7a2.25 2.25 0 1 1-4.5 0 2.25 2.25 0 0 1 4.5 0M10.5 17A2.25 2.25 0 1 1 6 17a2.25 2.25 0 0 1 4.5 0',
  edit: 'M4.5 19.5l1-4L16 5l3.5 3.5L9 19z',
  users:
    'M12 8.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0M2.500 19.500c.6-3.5 2.900-5.200 6-5.200s5.400 1.700 6 5.200M15.500 5.200a3.5 3.5 0 0 1 0 6.600M18 14.800c2 .7 3.200 2.300 3.5 4.700',
  tools:
    'M14.5 6.5a4 4 0 0 1 5-3l-2.500 2.500 1 2 2 1 2.200-2.200a4 4 0 0 1-5 4.700L8.500 20.200a2 2 0 0 1-2.800-2.800l8.800-8.700a4 4 0 0 1 0-2.200z',
  share:
    'M20.500 5.500a2.750 2.750 0 1 1-5.500 0 2.750 2.750 0 0 1 5.500 0M9 12a2.750 2.750 0 1 1-5.500 0A2.750 2.750 0 0 1 9 12M20.500 18.500a2.750 2.750 0 1 1-5.500 0 2.750 2.750 0 0 1 5.500 0M15.400 6.800l-6.800 3.900M15.400 17.200l-6.800-3.900',
  rows: 'M4 6h16M4 10h16M4 14h16M4 18h16',
  split_right: 'M4 5h16v14H4zM12 5v14',
  split_below: 'M4 5h16v14H4zM4 12h16',
  link: 'M10 14a4.500 4.500 0 0 0 6.400 0l3-3a4.500 4.500 0 0 0-6.400-6.400l-1 1M14 10a4.500 4.500 0 0 0-6.400 0l-3 3A4.500 4.500 0 0 0 11 19.400l1-1',
  megaphone: 'M4 10v4h3l9 4.500v-13L7 10zM8.500 14.500l1 4.500h2l-1-4M19 9.500a3.500 3.500 0 0 1 0 5',
  camera: 'M4 8h3.500L9 5.500h6L16.500 8H20v11H4zM15.500 13a3.500 3.500 0 1 1-7 0 3.500 3.500 0 0 1 7 0',
  fork: 'M9 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0M19 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0M14 18a2 2 0 1 1-4 0 2 2 0 0 1 4 0M7 8v1.500c0 1.500 1 2.500 2.500 2.500h5c1.500 0 2.500-1 2.500-2.500V8M12 12v4',
  upload: 'M12 15V4M7.5 8.500l4.500-4.500 4.500 4.500M5 20h14',
  download: 'M12 4v11M7.5 11l4.500 4.500 4.500-4.500M5 20h14',
  user: 'M16 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0M4.5 20.5c.8-4 3.7-6 7.5-6s6.7 2 7.5 6',
} as const;

/** What of an icon is filled: a split's new half, and the light of a recorder. */
const FILLED: Partial<Readonly<Record<keyof typeof PATHS, string>>> = {
  record: 'M18.500 12a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0',
  split_right: 'M12 5h8v14h-8z',
  split_below: 'M4 12h16v7H4z',
};

export type IconName = keyof typeof PATHS;

/** A picture beside words, never instead of them: hidden from assistive technology. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
      {FILLED[name] && <path class="filled" d={FILLED[name]} />}
    </svg>
  );
}
