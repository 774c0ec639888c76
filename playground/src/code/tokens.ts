/** Code in pieces, each of one look. Written together, they are the code as it was. Pure. */

export type Language = "shell" | "python" | "typescript" | "json";
export type Look = "text" | "number" | "word" | "key" | "note" | "";
export type Piece = readonly [look: Look, text: string];

/** In double quotes, in one line; before a colon it is a key. */
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*"`;
const KEY = String.raw`(?<key>${QUOTED}(?=\s*:))`;
const NUMBER = String.raw`(?<number>(?<![\w.])-?\d[\w.]*(?:(?<=[eE])[+-]?\d+)?)`;

const PYTHON_WORDS =
  "and as assert async await break class continue def del elif else except False finally for from global if import in is " +
  "lambda None nonlocal not or pass raise return True try while with yield";
const TYPESCRIPT_WORDS =
  "any as async await boolean break case catch class const continue default delete do else enum export extends false finally " +
  "for from function if implements import in infer instanceof interface keyof let never new null number of readonly return " +
  "satisfies string switch this throw true try type typeof undefined unknown void while";

/** The first that fits at a place is what stands there. */
const RULES: Record<Language, RegExp> = {
  json: rules(KEY, text(QUOTED), NUMBER, words("true false null")),
  // A word with JSON in it is coloured as JSON: its own quotes are marks.
  shell: rules(KEY, text(QUOTED), text(String.raw`(?<![}\]])'[^'{]*'`), String.raw`(?<word>(?<=\s)--?[A-Za-z][\w-]*|\b(?:true|false|null)\b)`, NUMBER),
  python: rules(
    String.raw`(?<note>#.*)`,
    text(String.raw`\b[rbf]{0,2}(?:"""[^]*?"""|'''[^]*?''')|"""[^]*?"""|'''[^]*?'''`),
    KEY,
    text(String.raw`(?:\b[rbf]{1,2})?(?:${QUOTED}|'(?:\\.|[^'\\\n])*')`),
    NUMBER,
    words(PYTHON_WORDS),
  ),
  typescript: rules(
    String.raw`(?<note>\/\/.*|\/\*[^]*?\*\/)`,
    KEY,
    text(String.raw`${QUOTED}|'(?:\\.|[^'\\\n])*'|` + "`(?:\\\\.|[^`\\\\])*`"),
    NUMBER,
    words(TYPESCRIPT_WORDS),
  ),
};

function rules(...parts: string[]): RegExp {
  let count = 0; // A name stands once in an expression.
  return new RegExp(parts.join("|").replace(/\(\?<(key|text|number|word|note)>/g, (_all, look: string) => `(?<${look}${count++}>`), "g");
}

function text(rule: string): string {
  return `(?<text>${rule})`;
}

function words(list: string): string {
  return String.raw`(?<word>(?<![\w.$])(?:${list.replaceAll(" ", "|")})\b(?!\s*\??:))`;
}

export function pieces(code: string, language: Language): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const match of code.matchAll(RULES[language])) {
    if (match.index > at) found.push(["", code.slice(at, match.index)]);
    const [name = ""] = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined) ?? [];
    found.push([name.replace(/\d/, "") as Look, match[0]]);
    at = match.index + match[0].length;
  }
  return at < code.length ? [...found, ["", code.slice(at)]] : found;
}
