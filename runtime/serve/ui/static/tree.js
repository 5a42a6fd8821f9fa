// Trees that keys walk through: a node is {label, open, children, go}; children are made when it is opened.

import { make } from "./dom.js";

const MOST_CHILDREN = 200;

/** A tree of nodes as an element (the pattern `tree` of ARIA). */
export function treeElement(name, nodes) {
  const root = make("ul", { class: "tree", role: "tree", "aria-label": name });
  more(root, nodes, 0);
  root.firstElementChild?.setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => treeKey(root, event));
  root.addEventListener("click", (event) => {
    const item = event.target.closest("[role=treeitem]");
    if (!item) return;
    focusOn(root, item);
    if (event.target.closest(".twig")) toggle(item);
    else item.node.go?.(false);
  });
  root.addEventListener("dblclick", (event) => event.target.closest("[role=treeitem]")?.node.go?.(true));
  return root;
}

function branchElement(node) {
  const children = node.children?.length ?? 0;
  const item = make(
    "li",
    { role: "treeitem", tabindex: "-1", class: node.tone ?? "", "aria-expanded": children ? "false" : null },
    make("div", { class: "node" }, make("span", { class: children ? "twig" : "leaf", "aria-hidden": "true" }), ...node.label),
  );
  item.node = node;
  if (children && node.open) toggle(item);
  return item;
}

function toggle(item, open = item.getAttribute("aria-expanded") !== "true") {
  const { children } = item.node;
  if (!children?.length) return;
  item.setAttribute("aria-expanded", open ? "true" : "false");
  if (open && !item.made) {
    item.made = make("ul", { role: "group" });
    more(item.made, children, 0);
    item.append(item.made);
  }
  if (item.made) item.made.hidden = !open;
}

/** Some more of many children, and behind them who makes the next ones. */
function more(list, children, from) {
  list.append(...children.slice(from, from + MOST_CHILDREN).map((child) => branchElement(child)));
  const left = children.length - from - MOST_CHILDREN;
  if (left <= 0) return;
  const label = [make("em", { text: `${left} more` })];
  const go = () => {
    const next = rest.previousElementSibling;
    rest.remove();
    more(list, children, from + MOST_CHILDREN);
    next.nextElementSibling?.focus();
  };
  const rest = branchElement({ label, go });
  list.append(rest);
}

function seenItems(root) {
  return [...root.querySelectorAll("[role=treeitem]")].filter((item) => item.offsetParent !== null);
}

function focusOn(root, item) {
  for (const each of root.querySelectorAll("[role=treeitem][tabindex='0']")) each.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
}

function treeKey(root, event) {
  const item = event.target.closest("[role=treeitem]");
  if (!item) return;
  const open = item.getAttribute("aria-expanded");
  let to = null;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const items = seenItems(root);
    to = items[items.indexOf(item) + (event.key === "ArrowDown" ? 1 : -1)];
  } else if (event.key === "Home") to = seenItems(root)[0];
  else if (event.key === "End") to = seenItems(root).at(-1);
  else if (event.key === "ArrowRight" && open === "false") toggle(item, true);
  else if (event.key === "ArrowRight" && open === "true") to = item.made.firstElementChild;
  else if (event.key === "ArrowLeft" && open === "true") toggle(item, false);
  else if (event.key === "ArrowLeft") to = item.parentElement.closest("[role=treeitem]");
  else if (event.key === "Enter" || event.key === " ") item.node.go?.(event.key === "Enter");
  else return;
  event.preventDefault();
  if (to) focusOn(root, to);
}
