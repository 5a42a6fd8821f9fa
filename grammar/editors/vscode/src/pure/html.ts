// The frame of a page: nothing but its own script and sheets can be loaded, and nothing is asked of a network.

/** A text as it may stand in HTML, also between quotes. */
export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (each) => names[each] ?? each);
}

/** A page with one script and its sheets. `source` is where the editor lets pages load files from. */
export function page(options: {
  title: string;
  source: string;
  nonce: string;
  script: string;
  sheets: readonly string[];
  body: string;
}): string {
  const policy = [
    "default-src 'none'",
    `style-src ${options.source}`,
    `script-src 'nonce-${options.nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${options.sheets.map((each) => `<link rel="stylesheet" href="${escaped(each)}">`).join("\n")}
<title>${escaped(options.title)}</title>
</head>
<body>
${options.body}
<script nonce="${escaped(options.nonce)}" src="${escaped(options.script)}"></script>
</body>
</html>
`;
}
