/** What is shown where no request is: what the service is, and where one may begin. */

import type { ComponentChildren } from "preact";
import { actOf, allActs, GATEWAY_URL, type Catalog, type PlacedAct } from "../catalog";
import { ACCOUNTS, NOTE } from "../brand";
import { showLogin, showPaste, showShortcuts } from "../account";
import { titleOf } from "../library/reading";
import { history } from "../library/record";
import { saved } from "../library/saved";
import { lazy } from "../lazy";
import { emptyTexts, loginOf, openRequest, showAct, showSaved, token, type ActRequest } from "../state";
import { Button, CopyButton, Icon, type IconName } from "../ui";
import { WithCode } from "../library/words";
import { ActLock, ActMark, ActName, saidOf } from "./mark";
import "./home.css";

const DemoAccounts = lazy(() => import("../login/demo").then((part) => part.DemoAccounts), "");
const Preview = lazy(() => import("../explorer/preview").then((part) => part.Preview), "");

/** The most lines of each list. */
const MOST = 6;
/** The most models that can be told apart in the small graph. */
const MOST_MODELS = 24;

export function Home({ catalog }: { catalog: Catalog }) {
  const acts = allActs(catalog);
  const models = Object.keys(catalog.models).length;
  const recent = [...new Map(history.value.map(({ request }) => [titleOf(request), request])).values()];
  return (
    <div class="home">
      <Welcome catalog={catalog} acts={acts} models={models} />
      <div class="home-columns">
        <div class="home-lists">
          <List catalog={catalog} title="Recent" requests={recent} />
          <List catalog={catalog} title="Saved" requests={saved.value.map(({ request, name }) => ({ ...request, name }))} />
          <List catalog={catalog} title="Start here" requests={beginning(catalog)} />
        </div>
        <div class="home-ways">
          {models > 0 && (
            <a class="home-graph" href="#/schema">
              {models <= MOST_MODELS && <Preview catalog={catalog} />}
              <Way icon="graph" title="Schema">Models, their fields and how they relate</Way>
            </a>
          )}
          <a href="#/sequences">
            <Way icon="list" title="Sequences">Run requests in order, check the replies, export a pytest test</Way>
          </a>
          <a href="#/downloads">
            <Way icon="download" title="Downloads">TypeScript and Python clients, OpenAPI, JSON Schema</Way>
          </a>
          <p class="home-keys muted small hide-narrow">
            <kbd>Ctrl</kbd> <kbd>K</kbd> finds any act, model or view{" "}
            <Button small look="quiet" onClick={showShortcuts}>
              All shortcuts
            </Button>
          </p>
        </div>
      </div>
    </div>
  );
}

/** What can be done here, and before a log-in how many acts need one. */
function Welcome({ catalog, acts, models }: { catalog: Catalog; acts: PlacedAct[]; models: number }) {
  const login = loginOf(catalog);
  const isOut = login && !token.value;
  const first = beginning(catalog)[0];
  const locked = acts.filter(({ spec }) => spec.access === "rule").length;
  return (
    <header class="home-head">
      <div>
        <h2>Call and test every act of this API</h2>
        <p class="muted home-lead">
          An act is one operation of a model, such as {first ? <ActName {...first} /> : "adding a document"}. Fill in its form, choose the
          fields you want back, and send it.
        </p>
        <p class="home-facts muted">
          <span>
            {counted(acts.length, "act")} · {counted(models, "model")}
          </span>
          <span class="home-address">
            <code>{GATEWAY_URL}</code>
            <CopyButton iconOnly label="Copy the address" text={GATEWAY_URL} />
          </span>
        </p>
      </div>
      <div class="home-begin">
        {isOut && (
          <div class="home-login">
            <Button look="primary" onClick={showLogin}>
              Log in
            </Button>
            <span class="muted">
              {locked === acts.length ? "All acts need a login" : `${locked} of ${acts.length} acts need a login`}
            </span>
          </div>
        )}
        <div class="home-login">
          <Button icon="code" onClick={() => showPaste()}>
            Paste a request
          </Button>
          <span class="muted">A curl command or JSON</span>
        </div>
      </div>
      {(NOTE || ACCOUNTS.length > 0) && <DemoAccounts login={login} />}
    </header>
  );
}

function Way({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <span class="home-way">
      <Icon name={icon} />
      <span class="grow">
        <strong>{title}</strong>
        <span class="muted small">{children}</span>
      </span>
      <Icon name="right" />
    </span>
  );
}

type Line = Pick<ActRequest, "service" | "model" | "act"> & Partial<ActRequest> & { name?: string };

function List({ catalog, title, requests }: { catalog: Catalog; title: string; requests: Line[] }) {
  if (!requests.length) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {requests.slice(0, MOST).map(({ name, ...request }) => {
          const spec = actOf(catalog, request);
          return (
            <li key={name ?? titleOf(request)}>
              <button
                type="button"
                class="home-act"
                aria-description={saidOf(request.act, spec && { ...spec, description: null })}
                onClick={() => open(name, request)}
              >
                <span class="home-name">{name ?? <ActName {...request} />}</span>
                {spec && <ActLock spec={spec} />}
                <ActMark act={request.act} />
                <span class="muted small home-said">
                  <WithCode text={spec?.description ?? ""} />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function open(name: string | undefined, { set, get = {}, ...place }: Line): void {
  if (!set) showAct(place);
  else if (name) showSaved(name, { ...place, set, get });
  else openRequest({ ...place, set, get });
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
