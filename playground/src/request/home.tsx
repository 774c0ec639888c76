/** What is shown where no request is: what the service is, and where one may begin. */

import { allActs, GATEWAY_URL, type Catalog, type PlacedAct } from "../catalog";
import { TITLE } from "../brand";
import { showLogin } from "../account";
import { titleOf } from "../library/reading";
import { history } from "../library/record";
import { saved } from "../library/saved";
import { emptyTexts, loginOf, openRequest, showAct, token, type ActRequest } from "../state";
import { Button } from "../ui";
import { ActMark } from "./mark";

/** The most lines of each list. */
const MOST = 6;

export function Home({ catalog }: { catalog: Catalog }) {
  const acts = allActs(catalog);
  const login = loginOf(catalog);
  const { host, pathname } = new URL(GATEWAY_URL);
  const recent = [...new Map(history.value.map(({ request }) => [titleOf(request), request])).values()];
  return (
    <div class="home">
      <header>
        <h2>{TITLE}</h2>
        <p class="muted">
          {host}
          {pathname} · {counted(acts.length, "act")} · {counted(Object.keys(catalog.models).length, "model")}
        </p>
        {login && !token.value && (
          <p class="row">
            <Button look="primary" icon="key" onClick={showLogin}>
              Log in with {login.act}
            </Button>
            <span class="muted">Most acts ask who calls.</span>
          </p>
        )}
      </header>
      <div class="home-lists">
        <List title="Begin with" requests={beginning(catalog)} />
        <List title="Recent" requests={recent} />
        <List title="Saved" requests={saved.value.map(({ request, name }) => ({ ...request, name }))} />
      </div>
      <p class="muted">
        <kbd>Ctrl</kbd> <kbd>K</kbd> finds any act, model or view; <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends.
      </p>
    </div>
  );
}

type Line = Pick<ActRequest, "service" | "model" | "act"> & Partial<ActRequest> & { name?: string };

function List({ title, requests }: { title: string; requests: Line[] }) {
  if (!requests.length) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {requests.slice(0, MOST).map(({ name, ...request }) => (
          <li key={name ?? titleOf(request)}>
            <button type="button" class="acts-act" onClick={() => (request.set ? openRequest(request) : showAct(request))}>
              <ActMark act={request.act} />
              <span class="grow">{name ?? titleOf(request)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Acts that read first, and of these the ones that need the least to be written. */
function beginning(catalog: Catalog): Line[] {
  const rank = ({ act, spec }: PlacedAct) =>
    (/^(get|list|find|search)/.test(act) ? 0 : 10) + emptyTexts(spec.set, {}, "set").length + (spec.access === "rule" ? 0.5 : 0);
  return [...allActs(catalog)].sort((one, other) => rank(one) - rank(other)).map(({ spec: _, ...place }) => place);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
