/* Handles keys and clicks, and opens the first page. */

async function step(by) {
  const numbers = listed();
  const at = numbers.indexOf(screen.page);
  const next = at < 0 ? numbers[0] : numbers[at + by];
  if (next !== undefined) await openPage(next);
  return next !== undefined;
}

const startOf = (by) => (screen.block >= 0 ? screen.block + by : by > 0 ? 0 : screen.content.blocks.length - 1);

/* Returns whether a filter hides the block. */
const isHidden = (at) => byId("blocks").children[at].offsetParent === null;

function stepBlock(by) {
  const count = screen.content.blocks.length;
  let at = startOf(by);
  while (at >= 0 && at < count && isHidden(at)) at += by;
  if (at >= 0 && at < count) selectBlock(at);
}

/* Moves to the next doubtful block, on this page or on the listed pages after it (before it if `by` is negative). */
async function stepDoubt(by) {
  const { blocks } = screen.content;
  let at = startOf(by);
  while (at >= 0 && at < blocks.length && !isDoubtful(blocks[at])) at += by;
  if (at >= 0 && at < blocks.length) return selectBlock(at);
  const here = screen.page;
  const rest = listed().filter((number) => pages[number].n_doubtful && (by > 0 ? number > here : number < here));
  const next = by > 0 ? rest[0] : rest[rest.length - 1];
  if (next === undefined) return;
  await openPage(next);
  await stepDoubt(by);
}

const KEYS = {
  n: () => step(1),
  p: () => step(-1),
  d: () => stepDoubt(1),
  D: () => stepDoubt(-1),
  j: () => stepBlock(1),
  k: () => stepBlock(-1),
  ArrowDown: () => stepBlock(1),
  ArrowUp: () => stepBlock(-1),
  Home: () => selectBlock(0),
  End: () => selectBlock(screen.content.blocks.length - 1),
  " ": () => setLabel(screen.block),
  Enter: () => setLabel(screen.block),
  m: () => setLabel(screen.block, true),
  o: () => setLabel(screen.block, false),
  c: setChecked,
  e: exportDataSet,
  "/": () => byId("search").focus(),
  "?": () => byId("help").showModal(),
};
/* Keys that buttons, fields and lists handle themselves when they have the focus. */
const OWN_KEYS = new Set([" ", "Enter", "Home", "End", "ArrowDown", "ArrowUp"]);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open || !screen.content) return;
  const inField = event.target.matches("input, select");
  if (inField && event.key === "Escape") return document.activeElement.blur();
  const isElsewhere = event.target.closest("button, #output");
  if (inField || !(event.key in KEYS) || (isElsewhere && OWN_KEYS.has(event.key))) return;
  event.preventDefault();
  KEYS[event.key]();
});

byId("blocks").addEventListener("click", (event) => {
  const row = event.target.closest(".block");
  /* Do not change the label if the click ends a selection of text. */
  if (row && getSelection().isCollapsed) setLabel(Number(row.dataset.at));
});
byId("blocks").addEventListener("focusin", (event) => {
  const at = Number(event.target.closest(".block")?.dataset.at ?? -1);
  if (at >= 0 && at !== screen.block) selectBlock(at, false);
});
byId("pages").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) openPage(Number(button.dataset.page));
});
document.querySelector("[role=tablist]").addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (!tab) return;
  screen.tab = tab.id.replace("tab-", "");
  showOutput();
});
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const tabs = [...event.currentTarget.querySelectorAll("[role=tab]")];
  const next = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
  next.focus();
  next.click();
});
byId("search").addEventListener("input", showList);
byId("which").addEventListener("change", showList);
byId("show").addEventListener("change", () => (byId("blocks").dataset.show = byId("show").value));
byId("checked").addEventListener("click", setChecked);
byId("reset").addEventListener("click", reset);
byId("export").addEventListener("click", exportDataSet);
byId("export-rows").addEventListener("click", exportRows);
byId("help-open").addEventListener("click", () => byId("help").showModal());

if (pages.length) openPage(0);
else showCounts();
