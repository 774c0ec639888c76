/** The view of acts: the list, the open requests, their replies. */

import { useEffect, useRef, useState } from "preact/hooks";
import { showBatch } from "../account";
import { lazy } from "../lazy";
import { catalog, activeId, activeTab, closeTab, sendTab, tabs } from "../state";
import { Divider, paneStyle } from "../panes";
import { Button, Icon, nextIndex, once } from "../ui";
import { ActList } from "./list";
import { ActName } from "./mark";
import { isChanged } from "./menu";
import { SendButton } from "./send";
import "./acts.css";

const Home = lazy(() => import("./home").then((part) => part.Home), "");
const Sides = lazy(() => import("./sides").then((part) => part.Sides), "");

export function Acts() {
  const [listed, setListed] = useState(false);
  const tab = activeTab.value;
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || event.repeat || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      if (activeTab.value) void sendTab(activeTab.value);
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  if (!catalog.value) return null;
  return (
    <div class={listed ? "acts listed" : "acts"} style={paneStyle("side")}>
      <ActList catalog={catalog.value} onOpen={() => setListed(false)} />
      <Divider pane="side" />
      <div class="acts-main" tabIndex={-1} data-content>
        <div class="acts-bar">
          <Button class="acts-toggle" icon="menu" aria-label="All acts" aria-expanded={listed} onClick={() => setListed(!listed)}>
            All acts
          </Button>
          <TabStrip />
          {catalog.value.maxBatch > 0 && tabs.value.length > 1 && (
            <Button small look="quiet" title="Send open requests as a batch" onClick={showBatch}>
              Batch
            </Button>
          )}
          {tab && <SendButton key={tab.id} tab={tab} isAbove />}
        </div>
        {tab ? (
          <Sides tab={tab} key={tab.id} />
        ) : (
          <Home catalog={catalog.value} />
        )}
      </div>
    </div>
  );
}

/** The open requests: a row of buttons, because each can be closed. */
function TabStrip() {
  const strip = useRef<HTMLDivElement>(null);
  useEffect(() => strip.current?.querySelector(".now")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [activeId.value]);
  if (!tabs.value.length) return null;
  const keys = (event: KeyboardEvent) => {
    const all = tabs.value;
    const next = nextIndex(event.key, all.findIndex(({ id }) => id === activeId.value), all.length);
    if (next === undefined || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    activeId.value = all[next]?.id ?? 0;
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".strip-open")[next]?.focus();
  };
  return (
    <div class="strip" role="group" aria-label="Open requests" ref={strip} onKeyDown={keys}>
      {tabs.value.map((tab) => {
        const { id, request, saved, running } = tab;
        return (
          <span key={id} class={id === activeId.value ? "strip-tab now" : "strip-tab"}>
            <button
              type="button"
              class="strip-open"
              aria-pressed={id === activeId.value}
              onClick={() => void (activeId.value = id)}
            >
              {running.value && "… "}
              {saved.value || <ActName {...request.value} />}
              {isChanged(tab) && (
                <span class="strip-changed" title="Changed since it was saved">
                  <span class="sr-only">, changed</span>
                </span>
              )}
            </button>
            <button
              type="button"
              class="strip-close"
              aria-label={`Close ${saved.value || request.value.act}`}
              title="Close"
              onClick={once(() => closeTab(id))}
            >
              <Icon name="close" />
            </button>
          </span>
        );
      })}
    </div>
  );
}
