// Colours one line. `stack` names the regions that are open, the outermost first; it is changed to those that are open
// at the end of the line. Returns [end, class] pairs in order, class "" for plain text.
function colourLine(line, stack) {
  const found = [];
  let place = 0;
  const put = (end, kind) => {
    if (end > place) found.push([end, kind]);
    place = Math.max(place, end);
  };
  const groups = (match, kinds, plain) => {
    kinds.forEach((kind, number) => {
      const span = match.indices[number + 1];
      if (span) {
        put(span[0], plain);
        put(span[1], kind || plain);
      }
    });
    put(match.index + match[0].length, plain);
  };
  while (place < line.length) {
    const region = REGIONS[stack[stack.length - 1]];
    const plain = region ? region.inside : "";
    const end = region && at(region.end, line, place);
    if (end) {
      groups(end, region.ends, plain);
      stack.pop();
      continue;
    }
    let matched = false;
    for (const rule of rulesOf(region ? region.rules : "root")) {
      const match = at(rule.regex, line, place);
      if (!match || (!match[0] && !rule.region)) continue;
      groups(match, rule.kinds, plain);
      if (rule.region) stack.push(rule.region);
      matched = true;
      break;
    }
    if (!matched) put(place + (line.codePointAt(place) > 0xffff ? 2 : 1), plain);
  }
  while (stack.length && REGIONS[stack[stack.length - 1]].line) stack.pop();
  return found;
}

function at(regex, line, place) {
  regex.lastIndex = place;
  return regex.exec(line);
}

const flat = new Map();
// The rules of a list, those of the lists that it includes in their places.
function rulesOf(name) {
  if (!flat.has(name)) {
    flat.set(name, LISTS[name].flatMap((rule) => (typeof rule === "string" ? rulesOf(rule) : [rule])));
  }
  return flat.get(name);
}
