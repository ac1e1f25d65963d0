"""Teaches a student of multilingual-e5-small which blocks in doubt are main; a teacher first:

    python benchmarks/student/learn.py --pack FOLDER --name teacher --all
    python benchmarks/student/learn.py --pack FOLDER --name student --all --layers 6 --lr 2e-4
        --epochs 9 --init out/teacher.pt --teachers out/teacher.pt --soft 0.5 --save-int8

FOLDER is what pack.py made. A token's input is its piece, its place, its block's tag, and the log
odds that `cpu` gives the block, in 13 steps. Read are blocks in doubt (24 tokens) and two on each
side of them (8 tokens). Word pieces stay as they are; all else learns. Without --all the pages of
unlabelled-web-training and of one host in eight are held out. Each run adds a line to
out/scores.jsonl: F1 over words of held-out pages, before and after. Needs PyTorch alone.
"""

import argparse
import json
import lzma
import pickle
import time
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TAGS = [
    "?",
    "p",
    "li",
    "ul",
    "ol",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "td",
    "th",
    "table",
    "a",
    "span",
    "noscript",
    "button",
    "picture",
    "figure",
    "img",
    "figcaption",
    "select",
    "dl",
    "dt",
    "dd",
    "pre",
    "form",
    "blockquote",
    "label",
    "legend",
    "summary",
    "address",
    "footer",
    "header",
    "nav",
    "article",
    "section",
    "textarea",
    "div",
]
TAG = {t: i for i, t in enumerate(TAGS)}
UNSURE = 0.03
W = 384
DOUBTS = ((13.445, 1 / 6), (1.0, 2 / 3), (1 / 13.445, 1 / 6))


def decide(p, words):
    """The choice of highest expected F1, as `dripper.labels.cpu.decide`."""
    if not words.any():
        return p >= 0.5
    order = np.argsort(-p, kind="stable")
    w = np.where(words > 0, words + 4, 0)[order]
    sizes, q = np.cumsum(w), p[order]
    f1 = np.zeros(len(words))
    for odds, weight in DOUBTS:
        s = q * odds / (1 - q + q * odds)
        hits = np.cumsum(s * w)
        f1 += weight * 2 * hits / np.maximum(sizes + hits[-1], 1)
    best = int(np.argmax(f1))
    main = np.zeros(len(words), bool)
    main[order[: best + 1]] = True
    return main


def f1_of(page, main):
    """F1 over words of a choice of blocks."""
    if not page["words"][main].sum():
        return 0.0
    h = page["matched"][main].sum()
    return 2 * h / max(page["words"][main].sum() + page["truth_words"], 1)


def q4(raw, *shape):
    """Numbers of blocks of four bits (Q4_0 of GGML)."""
    b = raw.reshape(-1, 18)
    s = b[:, :2].copy().view("<f2").astype(np.float32)
    v = b[:, 2:]
    return (
        (np.concatenate([v & 15, v >> 4], axis=1).astype(np.float32) - 8) * s
        if not shape
        else ((np.concatenate([v & 15, v >> 4], axis=1).astype(np.float32) - 8) * s).reshape(shape)
    )


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.ao = (nn.Linear(W, W) for _ in range(4))
        self.fi = nn.Linear(W, 4 * W)
        self.fo = nn.Linear(4 * W, W)
        self.aln = nn.LayerNorm(W, 1e-12)
        self.oln = nn.LayerNorm(W, 1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        """Return the next states."""
        rows, longest, _ = x.shape

        def h(y):
            return y.view(rows, longest, 12, 32).transpose(1, 2)

        a = F.scaled_dot_product_attention(
            h(self.q(x)), h(self.k(x)), h(self.v(x)), attn_mask=mask, dropout_p=0.1 if self.training else 0.0
        )
        x = self.aln(x + self.drop(self.ao(a.transpose(1, 2).reshape(rows, longest, W))))
        return self.oln(x + self.drop(self.fo(F.gelu(self.fi(x)))))


class Reader(nn.Module):
    """The encoder, with a number for each token."""

    def __init__(self, n_layers, n_vocab):
        super().__init__()
        self.register_buffer("word", torch.zeros(n_vocab, W))
        self.pos = nn.Parameter(torch.zeros(512, W))
        self.tag = nn.Parameter(torch.zeros(len(TAGS), W))
        self.draft = nn.Parameter(torch.zeros(14, W))
        self.ln = nn.LayerNorm(W, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(n_layers))
        self.head = nn.Linear(W, 1)
        self.drop = nn.Dropout(0.1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids, tags, drafts, mask):
        """Return the margins, (rows, tokens)."""
        x = self.word[ids] + self.pos[: ids.shape[1]] + self.tag[tags] + self.draft[drafts]
        x = self.drop(self.ln(x))
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x).squeeze(-1)


def load_base(pack, n_layers=12):
    """The pretrained model."""
    z = np.load(pack / "base.npz")
    n = z["emb.word.q4"].shape[0]
    m = Reader(n_layers, n)
    sd = {}
    sd["word"] = q4(z["emb.word.q4"].reshape(-1)).reshape(n, W)

    def get(name, *shape):
        r = z[name]
        return r.reshape(shape) if r.dtype == np.float32 else q4(r, *shape)

    sd["pos"] = get("emb.pos", 512, W) + get("emb.type", 2, W)[0]
    sd["ln.weight"], sd["ln.bias"] = get("emb.ln.w", W), get("emb.ln.b", W)
    for to, layer in enumerate(pick(n_layers)):
        for p, (o, i) in {
            "q": (W, W),
            "k": (W, W),
            "v": (W, W),
            "ao": (W, W),
            "fi": (4 * W, W),
            "fo": (W, 4 * W),
        }.items():
            sd[f"layers.{to}.{p}.weight"] = get(f"l{layer}.{p}.w", o, i)
            sd[f"layers.{to}.{p}.bias"] = get(f"l{layer}.{p}.b", o)
        for p in ("aln", "oln"):
            sd[f"layers.{to}.{p}.weight"] = get(f"l{layer}.{p}.w", W)
            sd[f"layers.{to}.{p}.bias"] = get(f"l{layer}.{p}.b", W)
    m.load_state_dict({k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in sd.items()}, strict=False)
    return m


def pick(n):
    """The layers of twelve that a smaller model begins with."""
    return {12: list(range(12)), 6: [1, 3, 5, 7, 9, 11], 4: [2, 5, 8, 11], 3: [3, 7, 11], 8: [0, 2, 3, 5, 6, 8, 9, 11]}[
        n
    ]


def shrink(state, n):
    """The state of a smaller model."""
    own = {k: v for k, v in state.items() if not k.startswith("layers.")}
    for to, layer in enumerate(pick(n)):
        own |= {f"layers.{to}." + k.split(".", 2)[2]: v for k, v in state.items() if k.startswith(f"layers.{layer}.")}
    return own


class Data:
    """One page, cut to what is read of it."""

    def __init__(self, page, o, specials):
        p, words, sizes = page["p"], page["words"], page["sizes"].astype(int)
        self.page = page
        u = (p > UNSURE) & (p < 1 - UNSURE) & (words > 0)
        self.unsure = u
        near = u.copy()
        for d in range(1, o.reach + 1):
            near[d:] |= u[:-d]
            near[:-d] |= u[d:]
        if o.reach >= 99:
            near[:] = True
        starts = np.cumsum(sizes) - sizes
        self.blocks = [int(b) for b in np.flatnonzero(near & (sizes > 0))]
        self.tok = [page["ids"][starts[b] : starts[b] + min(sizes[b], o.full if u[b] else o.side)] for b in self.blocks]
        logit = np.log(np.clip(p, 1e-4, 1 - 1e-4) / (1 - np.clip(p, 1e-4, 1 - 1e-4)))
        self.bucket = np.clip(np.rint(logit) + 6, 0, 12).astype(int)
        self.tags = [TAG.get(t, len(TAGS) - 1) for t in page["tags"]]
        self.target = np.clip(page["matched"] / np.maximum(words, 1), 0, 1)
        self.weight = np.where(u, 1.0, o.sure_weight) * (words > 0)
        self.begin, self.sep, self.pad = specials

    def cut(self, first=511):
        """Return the blocks of each window that shows one in doubt."""
        wins, used = [], 10**9
        room = 511
        for k, t in enumerate(self.tok):
            if used + len(t) + 1 > room:
                wins.append([])
                used = 511 - first if len(wins) == 1 else 0
            wins[-1].append(k)
            used += len(t) + 1
        return [w for w in wins if any(self.unsure[self.blocks[k]] for k in w)]

    def window(self, ks, unknown=False):
        """Return a window's tokens, tags, drafts and blocks."""
        ids = [np.array([self.begin])]
        tags = [np.array([0])]
        dr = [np.array([13])]
        blocks = []
        for k in ks:
            b = self.blocks[k]
            n = len(self.tok[k]) + 1
            ids += [self.tok[k], np.array([self.sep])]
            tags.append(np.full(n, self.tags[b]))
            dr.append(np.full(n, 13 if unknown else self.bucket[b]))
            blocks.append((b, n))
        return np.concatenate(ids).astype(np.int64), np.concatenate(tags), np.concatenate(dr), blocks


def collate(ws, pad, device):
    """Windows as tensors, padded."""
    longest = -(-max(len(w[0]) for w in ws) // 32) * 32
    rows = len(ws)
    ids, tags, dr = np.full((rows, longest), pad), np.zeros((rows, longest), np.int64), np.full((rows, longest), 13)
    ok = np.zeros((rows, longest), bool)
    seg = np.full((rows, longest), sum(len(w[3]) for w in ws))
    n = 0
    sizes = []
    for i, (a, t, d, blocks) in enumerate(ws):
        length = len(a)
        ids[i, :length], tags[i, :length], dr[i, :length] = a, t, d
        ok[i, :length] = True
        at = 1
        for _b, k in blocks:
            seg[i, at : at + k] = n
            at += k
            n += 1
            sizes.append(k)

    def t(x):
        return torch.from_numpy(x).to(device, non_blocking=True)

    return t(ids), t(tags), t(dr), t(ok)[:, None, None, :], t(seg.reshape(-1)), t(np.array(sizes, np.float32))


def block_margins(m, batch):
    """The mean over each block's tokens."""
    ids, tags, dr, mask, seg, sizes = batch
    out = m(ids, tags, dr, mask).float().reshape(-1)
    return torch.zeros(len(sizes) + 1, device=out.device).index_add(0, seg, out)[:-1] / sizes


def main():
    """Teach one model, score it, save it."""
    a = argparse.ArgumentParser()
    for name, kind, default in (
        ("name", str, "x"),
        ("layers", int, 12),
        ("lr", float, 1e-4),
        ("epochs", int, 8),
        ("batch", int, 16),
        ("seed", int, 0),
        ("full", int, 24),
        ("side", int, 8),
        ("reach", int, 2),
        ("sure_weight", float, 0.2),
        ("soft", float, 0.0),
        ("init", str, "base"),
        ("teachers", str, ""),
        ("out", str, "out"),
        ("pack", str, "pack"),
        ("sample", int, 0),
        ("unknown", float, 0.1),
        ("ema", float, 0.99),
        ("limit", float, 1e9),
    ):
        a.add_argument("--" + name.replace("_", "-"), type=kind, default=default)
    for f in ("no_draft", "extra", "all", "save_int8"):
        a.add_argument("--" + f.replace("_", "-"), action="store_true")
    o = a.parse_args()
    t0 = time.time()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(o.seed)
    rng = np.random.default_rng(o.seed)
    torch.set_num_threads(2)
    if device == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = True
    with lzma.open(Path(o.pack) / "pages.pkl.xz") as file:
        pages = pickle.load(file)
    kinds = {"web-kinds-2", "unlabelled-web-training", "web-kinds-more", "web-kinds"}
    specials = np.load(Path(o.pack) / "base.npz")["specials"][:3]

    def host(p):
        return zlib.crc32((p["host"] or p["key"][1]).encode()) % 8 == 0

    def is_dev(p):
        return p["set"] == "unlabelled-web-training" or (p["set"] in ("web-kinds-2", "web-kinds-more") and host(p))

    if o.sample:
        pages = pages[:: max(1, len(pages) // o.sample)]
    dev = [Data(p, o, specials) for p in pages if is_dev(p)]
    devhosts = {d.page["host"] for d in dev if d.page["host"]}
    train = [
        Data(p, o, specials)
        for p in pages
        if (p["set"] in kinds or o.extra) and (o.all or not (is_dev(p) or p["host"] in devhosts))
    ]
    train = [d for d in train if d.unsure.any()]
    model = load_base(Path(o.pack), 12)
    if o.init != "base":
        model.load_state_dict(torch.load(o.init))
    if o.layers != 12:
        state = shrink(model.state_dict(), o.layers)
        model = Reader(o.layers, model.word.shape[0])
        model.load_state_dict(state)
    model.to(device)
    teachers = []
    for f in filter(None, o.teachers.split(",")):
        t = Reader(12, model.word.shape[0])
        t.load_state_dict(torch.load(f))
        teachers.append(t.to(device).eval())

    def ctx():
        return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")

    def epoch(e):
        wins = []
        for d in train:
            cuts = d.cut(int(rng.integers(511 // 3, 512)))
            for i in rng.permutation(len(cuts))[:4]:
                unknown = o.no_draft or rng.random() < (
                    0.5 if d.page["set"] == "web-kinds" or d.page["set"] not in kinds else o.unknown
                )
                wins.append((d, d.window(cuts[i], unknown)))
        order = rng.permutation(len(wins))
        chunk = o.batch * 8
        batches = []
        for at in range(0, len(order), chunk):
            part = sorted(order[at : at + chunk], key=lambda i: len(wins[i][1][0]))
            batches += [[wins[i] for i in part[k : k + o.batch]] for k in range(0, len(part), o.batch)]
        return [batches[i] for i in rng.permutation(len(batches))]

    first = epoch(0)
    t1 = time.time()
    steps = len(first) * o.epochs
    print(o.name, "train", len(train), "dev", len(dev), "steps", steps, f"{time.time() - t0:.0f}s", flush=True)
    params = list(model.parameters())
    head = [model.head.weight, model.head.bias, model.tag, model.draft]
    opt = torch.optim.AdamW(
        [
            {"params": [p for p in params if not any(p is h for h in head)], "lr": o.lr, "base": o.lr},
            {"params": head, "lr": 1e-3, "base": 1e-3},
        ],
        weight_decay=0.01,
        fused=device == "cuda",
    )
    means = [p.detach().clone() for p in params]
    step = 0
    done = 0.0
    model.train()
    total = torch.zeros((), device=device)
    for e in range(o.epochs):
        for batch in first if e == 0 else epoch(e):
            ws = [w for _, w in batch]
            b = collate(ws, int(specials[2]), device)
            target = torch.from_numpy(
                np.concatenate([[d.target[x] for x, _ in w[3]] for d, w in batch]).astype(np.float32)
            ).to(device)
            weight = torch.from_numpy(
                np.concatenate([[d.weight[x] for x, _ in w[3]] for d, w in batch]).astype(np.float32)
            ).to(device)
            if teachers:
                with torch.no_grad(), ctx():
                    soft = torch.stack([block_margins(t, b) for t in teachers]).mean(0).sigmoid()
                target = (1 - o.soft) * target + o.soft * soft
            with ctx():
                m = block_margins(model, b)
            loss = (
                F.binary_cross_entropy_with_logits(m, target, reduction="none") * weight
            ).sum() / weight.sum().clamp(min=1)
            done = max(step / steps, (time.time() - t1) / o.limit)
            if done >= 1:
                break
            pace = min(1, (step + 1) / 60) * (1 - 0.9 * max(0, (done - 0.5) / 0.5))
            for g in opt.param_groups:
                g["lr"] = g["base"] * pace
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            opt.step()
            step += 1
            total += loss.detach()
            torch._foreach_lerp_(means, params, 1 - min(o.ema, step / (step + 9)))
        print(o.name, "epoch", e, f"loss {total.item() / len(first):.4f} {time.time() - t0:.0f}s", flush=True)
        total.zero_()
    with torch.no_grad():
        for p, q in zip(params, means, strict=False):
            p.copy_(q)
    model.eval()
    Path(o.out).mkdir(exist_ok=True, parents=True)
    torch.save(model.state_dict(), f"{o.out}/{o.name}.pt")
    score(model, dev, o, specials, device, ctx, t0)
    if o.save_int8:
        save_int8(model, o)


def score(model, dev, o, specials, device, ctx, t0):
    """Add a line of scores of the held-out pages."""
    _rows, _margins = [], []
    wins = [(i, d.window(c, o.no_draft)) for i, d in enumerate(dev) for c in d.cut()[:16]]
    wins.sort(key=lambda x: len(x[1][0]))
    got = [np.full(len(d.page["p"]), np.nan) for d in dev]
    with torch.no_grad(), ctx():
        for at in range(0, len(wins), 64):
            part = wins[at : at + 64]
            m = block_margins(model, collate([w for _, w in part], int(specials[2]), device)).float().cpu().numpy()
            k = 0
            for i, w in part:
                for b, _ in w[3]:
                    got[i][b] = m[k]
                    k += 1
    inputs, targets, weights = [], [], []

    def lg(p):
        return np.log(np.clip(p, UNSURE, 1 - UNSURE) / (1 - np.clip(p, UNSURE, 1 - UNSURE)))

    for d, g in zip(dev, got, strict=False):
        r = np.isfinite(g) & d.unsure
        inputs.append(np.stack([lg(d.page["p"][r]), g[r], np.ones(r.sum())], 1))
        targets.append(d.target[r])
        weights.append(np.full(r.sum(), 1 / max(r.sum(), 1) ** 0.5))
    inputs, targets, weights = np.concatenate(inputs), np.concatenate(targets), np.concatenate(weights)
    c = np.array([0.5, 0.45, 0.35])
    for _ in range(30):
        p = 1 / (1 + np.exp(-inputs @ c))
        curvature = (inputs * (weights * p * (1 - p))[:, None]).T @ inputs + 1e-3 * np.eye(3)
        c = c + np.linalg.solve(curvature, inputs.T @ (weights * (targets - p)))

    def read(d, g, c):
        p = d.page["p"].astype(float).copy()
        r = np.isfinite(g) & d.unsure
        p[r] = 1 / (1 + np.exp(-(np.stack([lg(p[r]), g[r], np.ones(r.sum())], 1) @ c)))
        return p

    full = [i for i, d in enumerate(dev) if d.page["truth_words"]]
    before = np.array([f1_of(dev[i].page, decide(dev[i].page["p"].astype(float), dev[i].page["words"])) for i in full])
    res = {}
    for tag, cc in (("old", np.array([0.5, 0.45, 0.35])), ("fit", c), ("alone", np.array([0, 1, 0.35]))):
        res[tag] = np.array([f1_of(dev[i].page, decide(read(dev[i], got[i], cc), dev[i].page["words"])) for i in full])
    kinds = {}
    for j, i in enumerate(full):
        kinds.setdefault(dev[i].page["kind"], []).append(res["fit"][j] - before[j])
    line = dict(
        name=o.name,
        pages=len(full),
        before=round(before.mean(), 4),
        **{k: round(v.mean(), 4) for k, v in res.items()},
        c=[round(float(x), 3) for x in c],
        logloss=float((weights * np.logaddexp(0, inputs @ c) - weights * targets * (inputs @ c)).sum() / weights.sum()),
        tokens=round(float(np.mean([sum(len(w[0]) for k, w in wins if k == i) for i in range(0, len(dev), 5)]))),
        kinds={k: [len(v), round(float(np.mean(v)), 3)] for k, v in kinds.items()},
        options=vars(o),
        seconds=round(time.time() - t0),
    )
    print(json.dumps(line), flush=True)
    with Path(o.out, "scores.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    np.savez_compressed(
        f"{o.out}/dev_{o.name}.npz",
        ids=np.array(["/".join(d.page["key"]) for d in dev]),
        sizes=[len(g) for g in got],
        margins=np.concatenate(got).astype(np.float16),
    )


def save_int8(model, o):
    """Save the weights in eight bits."""
    parts = {}
    for k, v in model.state_dict().items():
        if k == "word":
            continue
        v = v.float().cpu().numpy()
        if k.startswith("layers.") and v.ndim == 2:
            s = np.abs(v).max(1, keepdims=True) / 127
            parts[k] = np.rint(v / s).astype(np.int8)
            parts[k + ".scale"] = s[:, 0].astype(np.float32)
        else:
            parts[k] = v.astype(np.float32)
    half = [k for k in parts if k.startswith("layers.") and int(k.split(".")[1]) >= 6]
    np.savez(f"{o.out}/{o.name}_int8_a.npz", **{k: v for k, v in parts.items() if k not in half})
    if half:
        np.savez(f"{o.out}/{o.name}_int8_b.npz", **{k: parts[k] for k in half})


if __name__ == "__main__":
    main()
