// What is packed of the page of `sglc view` (runtime/serve/ui/static).
declare module "sgl-page/index.html" {
  const text: string;
  export default text;
}

declare module "sgl-page/page.js" {
  /** A recorded run, of which only this is read here. */
  export interface Run {
    sources: unknown;
    holes: { span: string }[];
  }

  export class Page {
    constructor(host: { go(run: Run, span: string): void } | null);
    readonly runs: Run[];
    begin(name: string): { push(text: string): void; end(cut: boolean): Run };
    add(run: Run): Run;
    open(tab: string): void;
    tell(text: string): void;
    mark(run: Run, span: string): void;
  }
}
