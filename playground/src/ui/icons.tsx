/** Icons: strokes in the colour of the text. */

const PATHS = {
  add: "M8 3v10M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  less: "M3 8h10",
  check: "M3 8.5l3.5 3.5L13 5",
  close: "M4 4l8 8M12 4l-8 8",
  code: "M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  dark: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  down: "M4 6l4 4 4-4",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  edit: "M3 13l.7-3L11 2.7l2.3 2.3L6 12.3z",
  folder: "M2 4h4l1.5 1.5H14V13H2z",
  graph: "M4 4m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M12 12m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M5.5 5.5l5 5",
  history: "M2.5 8a5.5 5.5 0 1 0 1.6-3.9L2.5 5.7M2.5 2.5v3.2h3.2M8 5v3l2 1.5",
  key: "M10.5 5.5m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M8.3 7.7L2.5 13.5M4.5 11.5l1.5 1.5",
  leave: "M9.5 2.5h-6v11h6M7 8h7M11.5 5.5L14 8l-2.5 2.5",
  light: "M8 8m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5L7.5 13a2.8 2.8 0 0 1-4-4L5 7.5",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  more: "M3.5 8m-.4 0a.4.4 0 1 0 .8 0a.4.4 0 1 0-.8 0M8 8m-.4 0a.4.4 0 1 0 .8 0a.4.4 0 1 0-.8 0M12.5 8m-.4 0a.4.4 0 1 0 .8 0a.4.4 0 1 0-.8 0",
  play: "M5 3l8 5-8 5z",
  remove: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  right: "M6 4l4 4-4 4",
  save: "M3 3h8l2 2v8H3zM5.5 3v3.5h4V3M5.5 13V9.5h5V13",
  search: "M7 7m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M10 10l3.5 3.5",
  settings: "M2 5h7M12 5h2M2 11h2M7 11h7M9 3.5v3M12 3.5M5.5 11m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M10.5 5m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
  share: "M11 5.5L8 2.5 5 5.5M8 2.5V10M3 8.5V13.5h10V8.5",
  stop: "M4 4h8v8H4z",
  unlock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 4.9-.7",
  up: "M4 10l4-4 4 4",
  upload: "M8 10.5V2.5M4.5 6L8 2.5 11.5 6M3 13.5h10",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
