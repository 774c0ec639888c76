import { useEffect, useState } from "preact/hooks";

const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
/** How often what is shown is brought up to date, in milliseconds. */
const LOOK = 30_000;

/** A point in time in one short format: how far away it is within a day, else the date; in milliseconds since 1970. */
export function whenText(at: number, now: number = Date.now()): string {
  const minutes = Math.abs(at - now) / 60_000;
  if (minutes >= 1440) return SHORT.format(at);
  if (minutes < 1 && at <= now) return "just now";
  const away = minutes < 59.5 ? `${Math.max(1, Math.round(minutes))} min` : `${Math.round(minutes / 60)} h`;
  return at > now ? `in ${away}` : `${away} ago`;
}

/** Draw the component anew from time to time. */
export function useClock(): void {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK);
    return () => clearInterval(timer);
  }, []);
}

/** A point in time that stays up to date; the pointer finds the exact one. */
export function When({ at }: { at: number }) {
  useClock();
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {whenText(at)}
    </time>
  );
}
