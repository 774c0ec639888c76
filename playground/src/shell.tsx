/** The frame: top bar, the view, dialogs of the whole page. */

import { useEffect } from "preact/hooks";
import { Account, dialog, EnvironmentMenu, showBatch, showEnvironments, showHeaders, showLogin, showPaste, showRights, showShortcuts } from "./account";
import { TITLE } from "./brand";
import { GATEWAY_URL } from "./catalog";
import iconUrl from "./icon.svg";
import { lazy } from "./lazy";
import { isRequestText } from "./paste/looks";
import { Palette } from "./palette"; // Not lazy: whoever presses Ctrl-K types on at once.
import { addCommands, catalog, catalogError, theme, view, type Theme, type View } from "./state";
import { VIEWS } from "./state/address";
import { refreshCatalog } from "./state/refresh";
import { Button, Empty, focusContent, Icon, IconButton, isTyping, Menu, Notices, type IconName } from "./ui";

const Acts = lazy(() => import("./request").then((part) => part.Acts));
const Explorer = lazy(() => import("./explorer").then((part) => part.Explorer));
const Sequences = lazy(() => import("./sequences").then((part) => part.Sequences));
const Library = lazy(() => import("./library").then((part) => part.Library));
const Downloads = lazy(() => import("./downloads").then((part) => part.Downloads));
const LoginDialog = lazy(() => import("./login").then((part) => part.LoginDialog), "");
const EnvironmentsDialog = lazy(() => import("./request/environments").then((part) => part.EnvironmentsDialog), "");
const BatchDialog = lazy(() => import("./batch").then((part) => part.BatchDialog), "");
const PasteDialog = lazy(() => import("./paste").then((part) => part.PasteDialog), "");
const RightsDialog = lazy(() => import("./rights").then((part) => part.RightsDialog), "");
const Shortcuts = lazy(() => import("./shortcuts").then((part) => part.Shortcuts), "");
const HeadersDialog = lazy(() => import("./request/headers").then((part) => part.HeadersDialog), "");

const PARTS = { acts: Acts, schema: Explorer, sequences: Sequences, history: Library, downloads: Downloads };
const ICONS: Record<View, IconName> = {
  acts: "play",
  schema: "graph",
  sequences: "list",
  history: "history",
  downloads: "download",
};
const THEMES: readonly { key: Theme; label: string }[] = [
  { key: "system", label: "System" },
  { key: "light", label: "Light" },
  { key: "dark", label: "Dark" },
];

addCommands(() => [
  ...VIEWS.map(({ key, title }) => ({ label: title, group: "Views" as const, run: () => void (view.value = key) })),
  { label: "Log in", run: showLogin },
  { label: "Paste a request", hint: "curl or JSON", run: () => showPaste() },
  { label: "Who may do what", hint: "users side by side", run: showRights },
  { label: "Environments", run: showEnvironments },
  { label: "Headers and token", run: showHeaders },
  { label: "Keyboard shortcuts", run: showShortcuts },
  { label: "Reload the acts", run: () => void refreshCatalog(true) },
  ...(catalog.value?.maxBatch ? [{ label: "Send open requests as a batch", run: showBatch }] : []),
  ...THEMES.map(({ key, label }) => ({ label: `Theme: ${label}`, run: () => void (theme.value = key) })),
]);

export function Shell() {
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.altKey || !catalog.value) return;
      const isControl = event.ctrlKey || event.metaKey;
      if (isControl && event.key.toLowerCase() === "k") dialog.value = dialog.value === "palette" ? "" : "palette";
      else if (!isControl && event.key === "?" && !isTyping(event)) showShortcuts();
      else return;
      event.preventDefault();
    };
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (!catalog.value || isTyping(event) || !isRequestText(text)) return;
      event.preventDefault();
      showPaste(text);
    };
    document.addEventListener("keydown", keys);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("keydown", keys);
      document.removeEventListener("paste", paste);
    };
  }, []);
  const close = () => void (dialog.value = "");
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={toMain}>
        Skip to content
      </a>
      <TopBar />
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
      {dialog.value === "palette" && <Palette onClose={close} />}
      {dialog.value === "headers" && <HeadersDialog onClose={close} />}
      {dialog.value === "environments" && <EnvironmentsDialog onClose={close} />}
      {dialog.value === "batch" && <BatchDialog onClose={close} />}
      {dialog.value === "paste" && <PasteDialog onClose={close} />}
      {dialog.value === "rights" && <RightsDialog onClose={close} />}
      {dialog.value === "shortcuts" && <Shortcuts onClose={close} />}
      {dialog.value === "login" && <LoginDialog onClose={close} />}
      <Notices />
    </div>
  );
}

function toMain(event: Event): void {
  event.preventDefault(); // The fragment belongs to the views.
  focusContent();
}

function Content() {
  if (catalogError.value)
    return (
      <Empty icon="close" title="The catalog did not load">
        <p>{catalogError.value}</p>
        <Button onClick={() => location.reload()}>Try again</Button>
      </Empty>
    );
  if (!catalog.value) return <p class="loading">Loading…</p>;
  const Part = PARTS[view.value];
  return <Part key={view.value} />;
}

function TopBar() {
  const { host, pathname } = new URL(GATEWAY_URL);
  const isDark = theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  return (
    <header class="topbar">
      <div class="brand">
        <img src={iconUrl} alt="" />
        <h1>
          <a href="#/" title="Home">
            {TITLE}
          </a>
        </h1>
        <span class="place" title={`Acts are called at ${GATEWAY_URL}`}>
          {host}
          {pathname}
        </span>
      </div>
      <nav class="views" aria-label="Views">
        {VIEWS.map(({ key, title }) => (
          <a key={key} href={`#/${key}`} aria-current={view.value === key ? "page" : undefined}>
            <Icon name={ICONS[key]} />
            <span>{title}</span>
          </a>
        ))}
      </nav>
      <div class="topbar-end">
        <Button class="finder hide-narrow" icon="search" onClick={() => void (dialog.value = "palette")}>
          Search <kbd>Ctrl K</kbd>
        </Button>
        <span class="only-narrow">
          <IconButton icon="search" label="Search" onClick={() => void (dialog.value = "palette")} />
        </span>
        <EnvironmentMenu />
        <Account />
        <Menu
          label="Theme"
          icon={isDark ? "dark" : "light"}
          iconOnly
          items={THEMES.map(({ key, label }) => ({
            label,
            checked: theme.value === key,
            onSelect: () => void (theme.value = key),
          }))}
        />
      </div>
    </header>
  );
}
