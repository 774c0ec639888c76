// Every code of a refused value has its case, and its bounds are typed.
import { GatewayError, type ClientCode, type ErrorCode, type ErrorDetail, type GatewayCode } from "./gateway.js";

export function told(detail: ErrorDetail): string {
  switch (detail.code) {
    case "too_short":
    case "too_small":
    case "not_greater": {
      const minimum: number | string = detail.minimum;
      return `at least ${minimum}`;
    }
    case "too_long":
    case "too_large":
    case "not_less":
    case "too_deep":
    case "too_many_bytes":
    case "too_many_digits":
    case "too_many_fields":
    case "too_many_places":
    case "too_many_relations": {
      const maximum: number | string = detail.maximum;
      return `at most ${maximum}`;
    }
    case "out_of_range":
      return `${detail.minimum.toFixed()} to ${detail.maximum.toFixed()}`;
    case "wrong_length":
      return detail.length.toFixed();
    case "no_match":
      return detail.pattern?.toUpperCase() ?? "another form";
    case "not_a_choice":
    case "no_operator":
    case "excluded":
      return detail.choices.map(String).join();
    case "wrong_type":
      return detail.expected === "object_id" ? "an id" : detail.expected;
    case "stale":
      return detail.revision.toFixed();
    case "bad_token":
    case "fixed":
    case "invalid":
    case "misfit":
    case "not_a_key":
    case "not_as_filtered":
    case "not_kept":
    case "not_storable":
    case "not_whole":
    case "null":
    case "overflow":
    case "repeated":
    case "required":
    case "taken":
    case "unknown":
      return detail.code;
    default:
      detail satisfies never;
      return detail;
  }
}

export function all(code: ErrorCode): number {
  switch (code) {
    case "bad_token": case "excluded": case "fixed": case "invalid": case "misfit": case "no_match": case "no_operator":
    case "not_a_choice": case "not_a_key": case "not_as_filtered": case "not_greater": case "not_kept": case "not_less":
    case "not_storable": case "not_whole": case "null": case "out_of_range": case "overflow": case "repeated":
    case "required": case "stale": case "taken": case "too_deep": case "too_large": case "too_long":
    case "too_many_bytes": case "too_many_digits": case "too_many_fields": case "too_many_places":
    case "too_many_relations": case "too_short": case "too_small": case "unknown": case "wrong_length":
    case "wrong_type":
      return 1;
    default:
      code satisfies never;
      return code;
  }
}

export function first(error: GatewayError): string | undefined {
  const details: { [path: string]: ErrorDetail[] } = error.details;
  return Object.entries(details).map(([path, [detail]]) => (detail ? `${path}: ${told(detail)}` : path))[0];
}

export function advice(error: GatewayError): string {
  const code = error.code as GatewayCode | ClientCode;
  switch (code) {
    case "stale":
      return "read it again";
    case "validation_error":
      return first(error) ?? error.message;
    case "bad_gateway": case "bad_request": case "conflict": case "definition_error": case "duplicate_key":
    case "error": case "forbidden": case "gateway_timeout": case "hidden": case "in_progress": case "internal_error":
    case "key_reused": case "method_not_allowed": case "not_done": case "not_found": case "outcome_unknown":
    case "partly_done": case "precondition_failed": case "rate_limited": case "remote_error": case "remote_timeout":
    case "reply_too_large": case "still_referenced": case "storage_error": case "timeout": case "too_large":
    case "too_many_requests": case "unauthenticated": case "unavailable": case "unsupported_media_type":
    case "usage_error": case "no_envelope": case "no_progress": case "no_reply": case "refused":
      return code;
    default:
      code satisfies never;
      return error.code === "out_of_stock" ? "an act's own" : error.message;
  }
}
