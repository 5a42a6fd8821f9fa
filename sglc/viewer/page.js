"use strict";
(() => {
  const card = document.getElementById("card");
  const form = document.getElementById("filter");
  let current = null;

  const make = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // The row of a token has all that is known of it; the card is made of its cells.
  const fillCard = (token) => {
    const row = document.getElementById("r" + token.id.slice(1));
    if (!row) return false;
    const cells = row.cells;
    const list = make("dl");
    const names = ["probability", "legal tokens", "pressure"];
    names.forEach((name, at) => {
      const value = cells[at + 1].textContent;
      if (!value) return;
      const pair = make("div");
      pair.append(make("dt", name), make("dd", at === 2 ? value + " nats" : value));
      list.append(pair);
    });
    const more = cells[5].textContent.trim();
    if (more) list.append(make("div", more));
    const best = make("ol");
    for (const each of row.querySelectorAll("li")) {
      const item = make("li", undefined, each.querySelector("del") ? "no" : each.className);
      const bar = make("span", undefined, "bar");
      const chance = each.querySelector(".p").textContent;
      const share = chance.includes("%") ? parseFloat(chance) : 0;
      bar.style.width = Math.max(0, Math.min(100, share)) + "%";
      item.append(each.firstElementChild.cloneNode(true), make("span", chance, "p"), bar);
      best.append(item);
    }
    card.replaceChildren(make("h4", cells[0].textContent), list, best);
    return true;
  };

  const hide = () => {
    if (current) current.classList.remove("on");
    current = null;
    card.hidden = true;
  };

  const show = (token) => {
    if (token === current) return;
    hide();
    if (!fillCard(token)) return;
    current = token;
    token.classList.add("on");
    card.hidden = false;
    const box = token.getClientRects()[0] || token.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - card.offsetWidth - 8));
    const below = box.bottom + card.offsetHeight + 12 < window.innerHeight;
    const top = below ? box.bottom + 6 : Math.max(8, box.top - card.offsetHeight - 6);
    card.style.left = left + window.scrollX + "px";
    card.style.top = top + window.scrollY + "px";
  };

  const tokenAt = (target) => (target instanceof Element ? target.closest(".t[id]") : null);

  // With scripts the card says what the plain titles say.
  for (const token of document.querySelectorAll(".t[title]")) token.removeAttribute("title");

  document.addEventListener("pointerover", (event) => {
    const token = tokenAt(event.target);
    if (token) show(token);
    else hide();
  });
  document.addEventListener("click", (event) => {
    const token = tokenAt(event.target);
    if (token) show(token);
  });

  document.addEventListener("keydown", (event) => {
    const fill = document.activeElement;
    if (event.key === "Escape") hide();
    if (!fill || !fill.classList.contains("fill")) return;
    if (event.key === "Enter") {
      event.preventDefault(); // else the key would close again what has the focus then
      open(document.getElementById("h" + fill.id.slice(1)));
      return;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const tokens = [...fill.querySelectorAll(".t[id]")];
    const at = tokens.indexOf(current);
    const next = tokens[at < 0 ? (step > 0 ? 0 : tokens.length - 1) : at + step];
    if (next) show(next);
  });
  document.addEventListener("focusout", hide);

  const open = (hole) => {
    if (!hole) return;
    hole.open = true;
    hole.querySelector("summary").focus();
    hole.scrollIntoView({ block: "center" });
  };
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();

  const filter = () => {
    const wanted = form.elements.hole.value.trim().toLowerCase();
    for (const each of document.querySelectorAll("[data-hole]")) {
      each.classList.toggle("off", !each.dataset.hole.toLowerCase().includes(wanted));
    }
    document.body.classList.toggle("norejected", !form.elements.rejected.checked);
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.details.addEventListener("change", (event) => {
    for (const each of document.querySelectorAll(".hole")) each.open = event.target.checked;
  });
})();
