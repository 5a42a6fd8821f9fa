// What the tests reach.
export * from "./candidates";
export * from "./events";
export * from "./html";
export * from "./origins";
export * from "./parameters";
export * from "./pieces";
export * from "./reports";
export * from "./source";
