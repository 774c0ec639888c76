import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { classes, IconButton } from "./button";
import { placeOf } from "./focus";
import { Notices, noticesIn } from "./notice";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, at the end. */
  actions?: ComponentChildren;
  wide?: boolean;
  /** Without a head: the title is read out only. */
  bare?: boolean;
}

/** A modal dialog: the browser's own, which keeps the focus in it and gives it back; Escape closes. The focus goes to what has `data-focus`, else to the first field. */
export function Dialog({ title, onClose, children, actions, wide, bare }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    const back = placeOf(document.activeElement);
    const outer = noticesIn.value;
    noticesIn.value = element;
    if (dialog && !dialog.open) dialog.showModal();
    const fields = ".dialog-body :is(input, textarea, select):enabled";
    (dialog?.querySelector<HTMLElement>("[data-focus]") ?? dialog?.querySelector<HTMLElement>(fields))?.focus();
    return () => {
      noticesIn.value = outer;
      dialog?.close();
      back();
    };
  }, []);
  const latest = useRef(onClose);
  latest.current = onClose;
  useLayoutEffect(() => {
    // Back and links show something else: it would stay above that.
    const leave = () => latest.current?.();
    addEventListener("hashchange", leave);
    return () => removeEventListener("hashchange", leave);
  }, []);
  return (
    <dialog
      ref={element}
      class={classes("dialog", wide && "wide", bare && "bare")}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog-box">
        {bare ? (
          <h2 id={id} class="sr-only">
            {title}
          </h2>
        ) : (
          <header>
            <h2 id={id}>{title}</h2>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
        )}
        <div class="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
      <Notices within={element} />
    </dialog>
  );
}
