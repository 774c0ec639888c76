/** Code in the colours that replies have. */

import { pieces, type Language } from "./tokens";
import "./code.css";

/** Characters that are coloured; more would take as long as it helps nobody. */
const MOST = 60_000;

export interface CodeProps {
  text: string;
  language: Language;
  /** Whether a line may end behind each comma. */
  breaks?: boolean;
}

export function Coloured({ text, language, breaks = false }: CodeProps) {
  return (
    <>
      {pieces(text.slice(0, MOST), language).map(([look, part]) =>
        look ? <span class={`code-${look}`}>{part}</span> : breaks ? broken(part) : part,
      )}
      {text.slice(MOST)}
    </>
  );
}

function broken(part: string) {
  return part.split(/(?<=,)/).map((one) => (one.endsWith(",") ? [one, <wbr />] : one));
}
