/** Code in colours; as plain text until that which colours it is loaded, and when it does not load. */

import { loadedOnce } from "../lazy";
import type { CodeProps } from "./coloured";

const useColoured = loadedOnce(() => import("./coloured").then((part) => part.Coloured));

export function Code(props: CodeProps) {
  const Coloured = useColoured();
  return Coloured && typeof Coloured !== "string" ? <Coloured {...props} /> : <>{props.text}</>;
}
