/** The name, the note and the colour that the service gives the page, in its head. */

/** What the page is called. */
export const TITLE: string = document.title || "Playground";

/** An account for trying the service out. */
export interface DemoAccount {
  who: string;
  password: string;
}

const ACCOUNT = /`([^`]+)` \/ `([^`]+)`/g;
const NOTED = given("note");

/** The accounts in the note: each is written as `name` / `password`. */
export const ACCOUNTS: readonly DemoAccount[] = [...NOTED.matchAll(ACCOUNT)].map(([, who = "", password = ""]) => ({ who, password }));

/** What those who open the page should know, without these accounts; empty for nothing. */
export const NOTE: string = ACCOUNTS.length ? NOTED.replace(/`[^`]+` \/ `[^`]+`(.*` \/ `[^`]+`)?/, "").replace(/[\s.,:;]+$/, "") : NOTED;

function given(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

type Rgb = readonly [number, number, number];
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
/** Of the page and of what is raised above it, by theme: see styles.css. */
const LIGHT: Rgb = [236, 238, 240];
const DARK: Rgb = [35, 40, 45];
/** WCAG 2.2, 1.4.3. */
const READABLE = 4.5;

/** Show the colour of the service, made darker or lighter until it can be read on each ground. */
export function applyColor(): void {
  const color = rgbOf(given("theme-color"));
  if (!color) return;
  const [light, dark] = [readable(color, LIGHT, BLACK), readable(color, DARK, WHITE)];
  const both = (one: Rgb, other: Rgb) => `light-dark(${cssOf(one)}, ${cssOf(other)})`;
  const ground = both(mixed(WHITE, light, 0.1), mixed([20, 23, 26], dark, 0.1));
  const { style } = document.documentElement;
  style.setProperty("--accent", both(light, dark));
  style.setProperty("--accent-fill", both(light, dark));
  style.setProperty("--accent-ground", ground);
  style.setProperty("--on-accent", both(WHITE, [10, 12, 14]));
}

/** The colour nearest to one, on the way to another, that can be read on a ground. */
function readable(color: Rgb, ground: Rgb, to: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.05) {
    const found = mixed(color, to, share);
    if (contrast(found, ground) >= READABLE) return found;
  }
  return to;
}

function rgbOf(text: string): Rgb | undefined {
  const parts = /^#(..)(..)(..)$/.exec(text)?.slice(1).map((part) => parseInt(part, 16));
  return parts && !parts.some(Number.isNaN) ? (parts as unknown as Rgb) : undefined;
}

function mixed(one: Rgb, other: Rgb, share: number): Rgb {
  return one.map((part, at) => Math.round(part + ((other[at] ?? 0) - part) * share)) as unknown as Rgb;
}

function cssOf(color: Rgb): string {
  return `rgb(${color.join(" ")})`;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
