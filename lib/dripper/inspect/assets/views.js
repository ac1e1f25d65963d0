/* Shows the list of pages, one open page, and one block of it. */

const screen = { page: -1, block: -1, content: null, tab: "rendered" };

function countsText() {
  const parts = [`${pages.length} ${pages.length === 1 ? "page" : "pages"}`];
  const errors = pages.filter((page) => page.error_code).length;
  if (errors) parts.push(`${errors} ${errors === 1 ? "error" : "errors"}`);
  if (decisions.size) parts.push(`${decisions.size} to export`);
  return parts.join(" · ");
}

function showCounts() {
  byId("counts").textContent = countsText();
  byId("export").disabled = byId("export-rows").disabled = !decisions.size;
}

const SELECTIONS = {
  all: () => true,
  doubtful: (page) => page.n_doubtful > 0,
  errors: (page) => page.error_code !== null,
  fallback: (page) => (page.method ?? "").startsWith("fallback:"),
  done: (page, number) => decisions.has(number),
};

function listed() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = SELECTIONS[byId("which").value];
  return [...pages.keys()].filter((number) => {
    const page = pages[number];
    const text = [page.name, page.url, page.title, page.method, page.error_code, page.error_detail].join(" ").toLowerCase();
    return fits(page, number) && words.every((word) => text.includes(word));
  });
}

function listItem(number) {
  const page = pages[number];
  const button = element("button", page.error_code ? "failed" : "");
  button.type = "button";
  button.dataset.page = number;
  button.append(element("span", "name", page.title || page.url || page.name));
  const decision = decisions.get(number);
  const facts = page.error_code ?? `${page.n_main} of ${page.n_blocks} blocks`;
  const doubts = page.n_doubtful ? ` · ${page.n_doubtful} doubtful` : "";
  const done = decision ? (decision.corrected ? " · corrected" : " · checked") : "";
  button.append(element("span", "sub", facts + doubts + done));
  if (page.confidence !== null) {
    const meter = element("i");
    meter.style.setProperty("--size", page.confidence);
    meter.title = `confidence ${page.confidence}`;
    button.append(meter);
  }
  if (number === screen.page) button.setAttribute("aria-current", "page");
  const item = element("li");
  item.append(button);
  return item;
}

function showList() {
  const numbers = listed();
  byId("pages").replaceChildren(...numbers.map(listItem));
  byId("none").hidden = numbers.length > 0;
  byId("pages").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

async function openPage(number) {
  const content = await contentOf(number);
  Object.assign(screen, { page: number, block: -1, content });
  const page = pages[number];
  document.title = `${page.title || page.name} – dripper inspect`;
  byId("title").textContent = page.title || page.name;
  byId("url").textContent = [page.url, page.title && page.name].filter(Boolean).join("  ·  ");
  showFacts(page);
  const labels = labelsOf(number, content);
  const rows = content.blocks.map(blockElement);
  rows.forEach((row, at) => paint(row, content.blocks[at], labels[at]));
  byId("blocks").replaceChildren(...rows);
  if (!rows.length) byId("blocks").append(element("p", "empty", "No blocks."));
  byId("blocks").scrollTop = 0;
  byId("detail").hidden = true;
  if (rows.length) rows[0].tabIndex = 0;
  for (const name of ["checked", "reset"]) byId(name).disabled = !rows.length;
  showDecision();
}

function showFacts(page) {
  const facts = [];
  if (page.method) facts.push(["method", page.method]);
  if (page.page_kind) facts.push(["kind", page.page_kind]);
  if (page.labeler) facts.push(["labeler", page.labeler]);
  if (page.confidence !== null) facts.push(["confidence", page.confidence.toFixed(2)]);
  if (page.language) facts.push(["language", page.language]);
  if (page.n_blocks) facts.push(["blocks", `${page.n_main} main of ${page.n_blocks}, ${page.n_doubtful} doubtful`]);
  byId("facts").replaceChildren(...facts.map(([name, value]) => {
    const fact = element("span", "fact");
    fact.append(element("b", "", name), " ", value);
    return fact;
  }));
  const error = byId("error");
  error.hidden = !page.error_code;
  error.replaceChildren(element("strong", "", page.error_code ?? ""), element("span", "", page.error_detail ?? "No extraction."));
  byId("notes").hidden = !page.notes.length;
  byId("notes").replaceChildren(...page.notes.map((note) => element("li", "", note)));
}

function showDecision() {
  byId("checked").setAttribute("aria-pressed", decisions.get(screen.page)?.checked ?? false);
  showCounts();
  showList();
  showOutput();
}

function showOutput() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isOpen = tab.id === `tab-${screen.tab}`;
    tab.setAttribute("aria-selected", isOpen);
    tab.tabIndex = isOpen ? 0 : -1;
  }
  const output = byId("output");
  output.className = screen.tab;
  output.setAttribute("aria-labelledby", `tab-${screen.tab}`);
  const made = VIEWS[screen.tab](screen.content);
  output.replaceChildren(...(made.length ? made : [element("p", "empty", "Nothing.")]));
  output.scrollTop = 0;
}

const asText = (text) => (text ? [element("pre", "", text)] : []);

/* Tab → a function that returns the tab's elements. */
const VIEWS = {
  rendered: (content) => renderMarkdown(content.markdown),
  markdown: (content) => (content.markdown ? markdownLines(content.markdown) : []),
  about: aboutPage,
  main_html: (content) => asText(content.main_html),
  truth: (content) => asText(truthText(content.blocks, labelsOf(screen.page, content))),
};

/* Shows the Markdown source. The beginning of each line determines its style. */
function markdownLines(text) {
  let inCode = false;
  return text.split("\n").map((line) => {
    const isFence = /^\s*(```|~~~)/.test(line);
    const kind = inCode || isFence ? "code" : /^#{1,6} /.test(line) ? "heading" : /^>/.test(line) ? "quote" : /^\|/.test(line) ? "code" : "";
    inCode = isFence ? !inCode : inCode;
    const made = element("div", kind, line || "\u00a0");
    made.dir = "auto";
    return made;
  });
}

/* Opens the Markdown at a position in characters, counted as in Python. */
function showPlace(place) {
  screen.tab = "markdown";
  showOutput();
  const before = [...screen.content.markdown].slice(0, place).join("");
  const line = byId("output").children[before.split("\n").length - 1];
  line.classList.add("here");
  line.scrollIntoView({ block: "center" });
}

function selectBlock(at, focus = true) {
  const rows = byId("blocks").children;
  if (!rows[at]) return;
  byId("blocks").querySelectorAll(".active").forEach((row) => row.classList.remove("active"));
  byId("blocks").querySelectorAll("[tabindex='0']").forEach((row) => (row.tabIndex = -1));
  screen.block = at;
  rows[at].classList.add("active");
  rows[at].tabIndex = 0;
  byId("detail").replaceChildren(...detail(screen.content.blocks[at], at, labelsOf(screen.page, screen.content)[at]));
  byId("detail").hidden = false;
  if (focus) rows[at].focus({ preventScroll: true });
  rows[at].scrollIntoView({ block: "nearest" });
}

function setLabel(at, main) {
  const { page, content } = screen;
  if (at < 0) return;
  decide(page, content, (before) => ({ main: before.main.with(at, main ?? !before.main[at]) }));
  paint(byId("blocks").children[at], content.blocks[at], labelsOf(page, content)[at]);
  selectBlock(at);
  showDecision();
}

function setChecked() {
  if (!screen.content.blocks.length) return;
  decide(screen.page, screen.content, (before) => ({ checked: !before.checked }));
  showDecision();
}

function reset() {
  undecide(screen.page);
  openPage(screen.page);
}
