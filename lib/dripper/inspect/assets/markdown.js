/* Renders Markdown as elements. Text is set only through textContent, so no markup of a page gets in, and no URL is loaded.

   It supports the Markdown that `dripper` writes, not all of CommonMark. */

const MOST_SHOWN = 300_000;
const DEEPEST = 24;
/* Maximum number of characters of a paragraph to render. A longer paragraph is shown as Markdown source. */
const LONGEST = 20_000;

const FENCE = /^(`{3,}|~{3,})(.*)$/;
const HEADING = /^(#{1,6}) +(.*)$/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const NOTE = /^\[\^([^\]]+)\]: ?/;
const DIVIDER = /^\|?(?: *:?-+:? *\|)+ *(?::?-+:? *)?$/;
const isStart = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line) || NOTE.test(line) || /^(?:>|\||\$\$)/.test(line);

function renderMarkdown(text) {
  const made = renderBlocks(text.slice(0, MOST_SHOWN).split("\n"), 0);
  if (text.length > MOST_SHOWN) made.push(element("p", "empty", "The rest is in the tab Markdown."));
  return made;
}

/* Returns the elements that the lines render to. */
function renderBlocks(lines, depth) {
  if (depth > DEEPEST) return [element("pre", "", lines.join("\n"))];
  const made = [];
  let at = 0;
  /* Takes and returns the next lines, up to the first line that does not fit. */
  const take = (fits) => {
    const first = at;
    while (at < lines.length && fits(lines[at])) at += 1;
    return lines.slice(first, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    let found;
    if (!line.trim()) {
      at += 1;
    } else if ((found = FENCE.exec(line))) {
      at += 1;
      const end = new RegExp(`^ {0,3}\\${found[1][0]}{${found[1].length},} *$`);
      const code = element("pre", "code", take((each) => !end.test(each)).join("\n"));
      code.dataset.language = found[2].trim();
      made.push(code);
      at += 1;
    } else if (line.startsWith("$$")) {
      at += 1;
      const rest = line.length > 4 && line.endsWith("$$") ? [] : take((each) => !each.endsWith("$$")).concat(lines[at++] ?? []);
      made.push(element("pre", "formula", [line, ...rest].join("\n")));
    } else if ((found = HEADING.exec(line))) {
      at += 1;
      made.push(withInline(element("p", `h h${found[1].length}`), found[2]));
    } else if (RULE.test(line)) {
      at += 1;
      made.push(element("hr"));
    } else if (line.startsWith(">")) {
      const quote = element("blockquote");
      quote.append(...renderBlocks(take((each) => each.startsWith(">")).map((each) => each.replace(/^> ?/, "")), depth + 1));
      made.push(quote);
    } else if (line.startsWith("|") && DIVIDER.test(lines[at + 1] ?? "")) {
      made.push(renderTable(take((each) => each.startsWith("|"))));
    } else if ((found = NOTE.exec(line))) {
      at += 1;
      const note = element("div", "note");
      note.append(element("sup", "", found[1]));
      const rest = take((each) => !each.trim() || each.startsWith("    ")).map((each) => each.slice(4));
      note.append(...renderBlocks([line.slice(found[0].length), ...rest], depth + 1));
      made.push(note);
    } else if (ITEM.test(line)) {
      made.push(renderList(lines, depth, take));
    } else {
      at += 1;
      const rest = take((each) => each.trim() && !isStart(each));
      made.push(withInline(element("p"), [line, ...rest].join("\n")));
    }
  }
  for (const each of made) each.dir = "auto";
  return made;
}

function renderList(lines, depth, take) {
  let marker = null;
  const list = { made: null };
  for (;;) {
    let width = 0;
    const head = take((line) => {
      const found = width ? null : ITEM.exec(line);
      const kind = found && /\d/.test(found[2]) ? "ol" : "ul";
      if (!found || (marker && marker !== kind)) return false;
      if (!marker) list.made = element(kind);
      if (!marker && kind === "ol") list.made.start = parseInt(found[2], 10);
      marker = kind;
      width = Math.min(found[0].length, found[1].length + found[2].length + 4);
      return true;
    });
    if (!head.length) return list.made;
    let isEmpty = false;
    const rest = take((line) => {
      const isIn = !line.trim() || line.startsWith(" ".repeat(width)) || (!isEmpty && !isStart(line.trimStart()));
      isEmpty = !line.trim();
      return isIn;
    });
    const item = element("li");
    item.append(...renderBlocks([head[0].slice(width), ...rest.map((line) => (/^ *$/.test(line.slice(0, width)) ? line.slice(width) : line))], depth + 1));
    list.made.append(item);
  }
}

function renderTable(lines) {
  const table = element("table");
  const cellsOf = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/);
  lines.forEach((line, at) => {
    if (at === 1) return;
    const row = element("tr");
    row.append(...cellsOf(line).map((cell) => withInline(element(at ? "td" : "th"), cell.trim())));
    table.append(row);
  });
  return table;
}

function withInline(made, text, depth = 0) {
  if (text.length > LONGEST || depth > DEEPEST) made.append(text);
  else renderInline(made, text, depth);
  return made;
}

const MARKS = /\\[!-/:-@[-`{-~\n]|`+|!?\[|\*\*?|~~|\$|<br ?\/?>| {2,}\n|\n|&(?:#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi;
const NAMED = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&nbsp;": "\u00a0" };
const SPANS = { "**": "strong", "*": "em", "~~": "s" };

function renderInline(made, text, depth) {
  let from = 0;
  MARKS.lastIndex = 0;
  for (let found; (found = MARKS.exec(text)); ) {
    const mark = found[0], start = found.index, after = start + mark.length;
    const [node, end] = readMark(text, mark, after, depth);
    if (node !== null) {
      made.append(text.slice(from, start), node);
      from = end;
    }
    MARKS.lastIndex = node !== null ? end : after;
  }
  made.append(text.slice(from));
}

/* Returns the element or text that a mark stands for, and the position after it; [null, 0] if the mark is ordinary text. */
function readMark(text, mark, after, depth) {
  if (mark[0] === "\\") return mark === "\\\n" ? [element("br"), after] : [mark[1], after];
  if (mark === "\n") return [" ", after];
  if (mark[0] === " " || mark[0] === "<") return [element("br"), after];
  if (mark[0] === "&") {
    const code = /^&#(x?)([0-9a-f]+);$/i.exec(mark);
    const value = code ? parseInt(code[2], code[1] ? 16 : 10) : 0;
    return [value > 0 && value < 0x110000 ? String.fromCodePoint(value) : NAMED[mark.toLowerCase()] ?? mark, after];
  }
  if (mark.endsWith("[")) return readLink(text, mark === "![", after, depth);
  const end = mark === "$" || mark[0] === "`" ? text.indexOf(mark, after) : closing(text, mark, after);
  if (end <= after) return [null, 0];
  const inner = text.slice(after, end);
  if (mark[0] === "`") return [element("code", "", inner), end + mark.length];
  if (mark === "$") return /^\s|\s$/.test(inner) ? [null, 0] : [element("code", "formula", inner), end + 1];
  if (/^\s/.test(inner)) return [null, 0];
  return [inlineOf(element(SPANS[mark]), inner, depth), end + mark.length];
}

/* Renders the text inside an element. MARKS has a position in the outer text, which is saved and restored. */
function inlineOf(made, text, depth) {
  const place = MARKS.lastIndex;
  withInline(made, text, depth + 1);
  MARKS.lastIndex = place;
  return made;
}

function closing(text, mark, after) {
  let end = text.indexOf(mark, after);
  /* The first of three stars may end the emphasis inside. */
  if (mark === "**" && end > 0 && text[end + 2] === "*") return end + 1;
  /* A star that is part of `**` does not end an emphasis with one star. */
  while (end > 0 && (text[end - 1] === "\\" || (mark === "*" && (text[end + 1] === "*" || text[end - 1] === "*")))) end = text.indexOf(mark, end + 1);
  return end;
}

const TARGET = /^\(((?:[^\s()]|\([^\s()]*\))*)(?: "((?:[^"\\]|\\.)*)")?\)/;

function readLink(text, isImage, after, depth) {
  let open = 1, end = after;
  for (; end < text.length && open; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") open += 1;
    else if (text[end] === "]") open -= 1;
  }
  const inner = text.slice(after, end - 1);
  if (open) return [null, 0];
  if (!isImage && inner[0] === "^") return [element("sup", "", inner.slice(1)), end];
  const target = TARGET.exec(text.slice(end, end + 4000));
  if (!target) return [null, 0];
  const made = inlineOf(element("span", isImage ? "picture" : "link"), inner, depth);
  made.title = [target[1], target[2]].filter(Boolean).join("\n");
  return [made, end + target[0].length];
}
