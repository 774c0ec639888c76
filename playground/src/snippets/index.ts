export { snippets, type Snippet } from "./snippets";
