// Forks of a run as a tree: what each branch wrote, what it cost, which one was adopted.

import { branchCount, brief, counting, finite, make, percent, plural, probable } from "./dom.js";
import { treeElement } from "./tree.js";

export class ForksView {
  constructor(go) {
    this.go = go;
    this.element = make("div", {});
  }

  show(run) {
    const forks = run.strand.forks;
    if (!forks.length) {
      this.element.replaceChildren(make("p", { class: "hint", text: "This run has no forks." }));
      return;
    }
    this.element.replaceChildren(
      make("p", { class: "hint", text: "Right opens a branch, left closes it, Enter goes to its text." }),
      treeElement("Forks", forks.map((fork) => this.fork(run, fork))),
    );
  }

  fork(run, fork) {
    const label = [make("b", { text: branchCount(fork.count) }), make("small", { text: ` ${brief(fork.span, 60)}` })];
    const children = fork.branches.map((branch) => this.branch(run, branch));
    const go = (going) => going && fork.branches[0]?.strand.rows.length && this.go(fork.branches[0].strand.rows[0]);
    return { label, children, open: true, go };
  }

  branch(run, branch) {
    const { strand } = branch;
    const holes = strand.holes.filter((hole) => !hole.rejected);
    const values = holes.filter((hole) => hole.end).map((hole) => String(hole.end.text ?? ""));
    const logprobs = holes.map((hole) => finite(hole.end?.logprob)).filter((each) => each !== null);
    const tokens = holes.reduce((sum, hole) => sum + (counting(hole.end?.tokens) ?? hole.tokens), 0);
    const facts = [plural(tokens, "token")];
    if (logprobs.length) facts.push(percent(probable(logprobs.reduce((sum, each) => sum + each, 0))));
    const label = [
      make("span", { class: "index", text: String(branch.index) }),
      branch.adopted ? make("strong", { class: "adopted", text: "✓ adopted " }) : null,
      branch.skipped ? make("strong", { class: "bad", text: `skipped: ${brief(branch.error, 80)} ` }) : null,
      make("code", { text: brief(values.join(" · "), 160) || "nothing yet" }),
      make("small", { text: ` ${facts.join(", ")}` }),
    ];
    const children = [
      ...holes.map((hole) => ({
        label: [make("span", { text: `${brief(hole.name, 40)} ` }), make("code", { text: brief(String(hole.end?.text ?? ""), 200) })],
        go: () => this.go(hole.target),
      })),
      ...strand.forks.map((fork) => this.fork(run, fork)),
    ];
    return { label: label.filter(Boolean), children, tone: branch.adopted ? "is-adopted" : "", go: (going) => going && strand.rows.length && this.go(strand.rows[0]) };
  }
}
