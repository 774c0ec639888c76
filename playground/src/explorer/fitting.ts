/** Texts of a box, as wide as they really are: characters differ. */

/** Of the rows in the style; the names of relations are the boldest. */
const FONT = '550 12px "Inter Variable", system-ui, sans-serif';
/** Between the name of a row and its kind. */
const GAP = 12;
/** What a name gets of a row at most, so that something of the kind is left. */
const SHARE = 0.62;

let pen: CanvasRenderingContext2D | null | undefined;

function widthOf(text: string): number {
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * 6.5;
  pen.font = FONT;
  return pen.measureText(text).width;
}

/** A text, or so much of it as has room. */
function fitted(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let length = text.length - 1;
  while (length > 1 && widthOf(`${text.slice(0, length)}…`) > room) length--;
  return `${text.slice(0, length)}…`;
}

/** The name and the kind of a row, with a gap between them. */
export function fittedRow(name: string, what: string, width: number): [string, string] {
  const room = what ? width - GAP : width;
  const first = fitted(name, what ? Math.max(room * SHARE, room - widthOf(what)) : room);
  return [first, fitted(what, room - widthOf(first))];
}
