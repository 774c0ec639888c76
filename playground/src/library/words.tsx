/** Text of authors, in which code stands between backquotes. */

/** For what takes text alone, such as a tooltip; undefined for none. */
export function plainText(text: string | null | undefined): string | undefined {
  return text?.replaceAll("`", "") || undefined;
}

/** Apart from what stands beside it: a text may be written from right to left, or say so of what follows. */
export function WithCode({ text }: { text: string }) {
  return <bdi>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</bdi>;
}
