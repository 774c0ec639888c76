// A program that forgets a code, or reads a bound that a code does not have, does not compile.
import type { ErrorCode, ErrorDetail, GatewayCode, GatewayError } from "./gateway.js";

export function forgets(code: Extract<ErrorCode, "required" | "null" | "too_short">): number {
  switch (code) {
    case "required":
    case "null":
      return 1;
    default:
      // @ts-expect-error -- too_short is left
      code satisfies never;
      return 2;
  }
}

export function reads(detail: ErrorDetail): unknown {
  // @ts-expect-error -- not every code has a minimum
  const minimum = detail.minimum;
  // @ts-expect-error -- none of the codes
  if (detail.code === "too_big") return 1;
  // @ts-expect-error -- has no maximum
  if (detail.code === "too_small") return detail.maximum;
  // @ts-expect-error -- nothing of that is ever expected
  if (detail.code === "wrong_type" && detail.expected === "int") return 2;
  return minimum;
}

export function misses(error: GatewayError): string {
  const code = error.code as Exclude<GatewayCode, "timeout">;
  // @ts-expect-error -- an act may raise others
  const known: GatewayCode = error.code;
  switch (code) {
    case "stale":
      return known;
    // @ts-expect-error -- none of the codes
    case "stail":
      return code;
    default:
      // @ts-expect-error -- all others are left
      code satisfies never;
      return code;
  }
}
