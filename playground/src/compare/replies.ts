/** The replies that can be compared: those of the history, whole where a tab still has them, and those of tabs. */

import type { Json } from "../json";
import { time } from "../library/format";
import { titleOf } from "../library/reading";
import { history } from "../library/record";
import { tabs, type ActRequest } from "../state";
import { envelopeOf, type Envelope } from "../state/request";

export interface KeptReply {
  /** When it was asked for, in milliseconds since 1970. */
  at: number;
  title: string;
  label: string;
  /** Undefined where it was too long to be kept, or no envelope. */
  value: () => Json | undefined;
}

/** Newest first. */
export function keptReplies(): KeptReply[] {
  const ofTabs = tabs.value.flatMap(({ sent, reply }) => (sent.value && reply.value ? [{ request: sent.value, reply: reply.value }] : []));
  const whole = new Map(ofTabs.map(({ reply }) => [reply.at, reply.envelope]));
  const inHistory = new Set(history.value.map(({ at }) => at));
  const found = [
    ...history.value.map(({ request, at, status, text }) => keptReply(request, at, status, () => whole.get(at) ?? envelopeOf(text))),
    ...ofTabs
      .filter(({ reply }) => !inHistory.has(reply.at))
      .map(({ request, reply }) => keptReply(request, reply.at, reply.status, () => reply.envelope)),
  ];
  found.sort((one, other) => other.at - one.at);
  // Several may be of one second.
  return found.map((one, place) => ({ ...one, label: `${found.length - place}. ${one.label}` }));
}

function keptReply(request: ActRequest, at: number, status: number, envelope: () => Envelope | undefined): KeptReply {
  const title = titleOf(request);
  return { at, title, label: `${time(at)} · ${title} · ${status || "no reply"}`, value: () => envelope() as Json | undefined };
}

/** The one before it of the same act, else the one before it. */
export function earlierThan(at: number, all: readonly KeptReply[]): KeptReply | undefined {
  const title = all.find((one) => one.at === at)?.title;
  const earlier = all.filter((one) => one.at < at);
  return earlier.find((one) => one.title === title) ?? earlier[0];
}
