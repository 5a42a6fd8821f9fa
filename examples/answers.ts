/** What the web service of a shop is told about a mail. */
export type Answer = Reply | Handover;

interface Reply {
  kind: "reply";
  mood: Mood;
  /** a greeting and one sentence */
  lines: [Line, Line];
}

/** @minLength 4 @maxLength 80 */
type Line = string;

interface Handover {
  kind: "handover";
  desk: "sales" | "repairs";
  urgent?: boolean;
}

enum Mood { Glad = "glad", Sorry = "sorry" }
