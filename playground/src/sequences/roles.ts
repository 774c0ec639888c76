/** The role in which a step is sent: with the token of the page, it is one of whoever is logged in. */

import { own } from "../json";
import { freeName } from "../library/names";
import { inRole, specOf, type ActRequest } from "../state";
import type { Sequence, Variable } from "./types";
import { namesOf, usedIn } from "./variable-names";

/** Return a sequence in the role of whoever is logged in; as it is where it has one already. */
export function inRoleOfPage(sequence: Sequence): Sequence {
  const steps = sequence.steps.map((step) => {
    if (step.token !== "current") return step;
    const request = inRole(specOf(step.request), step.request, "");
    return request === step.request ? step : { ...step, request };
  });
  return steps.every((step, at) => step === sequence.steps[at]) ? sequence : { ...sequence, steps };
}

/** A role that steps with the token of the page name. */
export interface RoleVariable extends Variable {
  value: string;
  /** Those of the steps. */
  numbers: number[];
}

/** Return a sequence with a variable for each role that is written out where the token is that of the page, and those. */
export function withRolesApart(sequence: Sequence): [Sequence, RoleVariable[]] {
  const roles: RoleVariable[] = [];
  const steps = sequence.steps.map((step, at) => {
    const name = step.token === "current" ? roleName(step.request) : undefined;
    const value = name === undefined ? undefined : own(step.request.set, name);
    if (name === undefined || typeof value !== "string" || !value || usedIn(value).length > 0) return step;
    const taken = [...namesOf(sequence), ...roles.map((one) => one.name)];
    const known = roles.find((one) => one.value === value);
    const role = known ?? { id: value, name: freeName(name, taken, "_"), value, secret: false, numbers: [] };
    if (!known) roles.push(role);
    role.numbers.push(at + 1);
    return { ...step, request: { ...step.request, set: { ...step.request.set, [name]: `{{${role.name}}}` } } };
  });
  return [{ ...sequence, steps }, roles];
}

function roleName(request: ActRequest): string | undefined {
  const role = specOf(request)?.role;
  return role?.in === "set" ? role.name : undefined;
}
