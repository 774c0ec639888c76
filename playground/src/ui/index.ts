export * from "./button";
export * from "./dialog";
export * from "./field";
export * from "./icons";
export * from "./menu";
export * from "./notice";
export * from "./table";
export * from "./tabs";
