/** Whether a text looks like a request of its own: a curl command, or a whole body. */
export function isRequestText(text: string): boolean {
  return /^\s*(\$\s+)?curl(\.exe)?\s/.test(text) || /^\s*\{[^]*"(act|batch)"\s*:/.test(text);
}
