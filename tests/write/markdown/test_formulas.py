import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import to_markdown
from dripper.write.markdown.formulas import delimit

TEX = "<annotation encoding='application/x-tex'>x_1^2</annotation>"


@pytest.mark.parametrize(
    ("html", "formula"),
    [
        (f"<math><semantics><mi>x</mi>{TEX}</semantics></math>", "$x_1^2$"),
        (f"<math display=block><semantics><mi>x</mi>{TEX}</semantics></math>", "$$x_1^2$$"),
        ("<math alttext='{\\displaystyle \\sigma}'><mi>s</mi></math>", "$\\sigma$"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", "$x^{2}$"),
        ("<math><foo>x</foo></math>", "$x$"),
        (
            f"<span class=katex><span class=katex-mathml><math><semantics>{TEX}</semantics></math></span>"
            "<span class=katex-html aria-hidden=true>x12</span></span>",
            "$x_1^2$",
        ),
        (f"<span class=katex-display><span class=katex><math>{TEX}</math></span></span>", "$$x_1^2$$"),
        ("<mjx-container><mjx-math>x</mjx-math><math><mi>x</mi></math></mjx-container>", "$x$"),
        ("<span class=MathJax data-mathml='<math><mi>x</mi></math>'>x</span>", "$x$"),
        ("<span class='math inline'>\\(\\alpha_1\\)</span>", "$\\alpha_1$"),
        ("<img class=latex alt='\\frac{1}{2}' src=a>", "$\\frac{1}{2}$"),
        ("<img alt='{\\displaystyle s^{2}}' src='https://x/math/render/svg/1'>", "$s^{2}$"),
        ("\\(a_b\\) and \\[c\\]", "$a_b$ and $$c$$"),
        ("$\\frac{a}{b} \\{x\\}$", "$\\frac{a}{b} \\{x\\}$"),
        ("[tex]x^2[/tex]", "$x^2$"),
        ("<span class=x data-math='p_i'><span aria-hidden=true>pi</span></span>", "$p_i$"),
        ("<math data-entry='x^2'><mi>x</mi></math>", "$x^2$"),
        ("<img src='https://latex.codecogs.com/svg.image?\\frac{a}{b}'>", "$\\frac{a}{b}$"),
        ("<img src='https://chart.googleapis.com/chart?cht=tx&amp;chl=a%2Bb'>", "$a+b$"),
        ("\\begin{align}a &amp; b\\end{align}", "$$\\begin{align}a & b\\end{align}$$"),
    ],
)
def test_formulas_become_latex(html, formula):
    assert to_markdown(f"<p>{html}</p>").strip() == formula


def test_prices_and_code_are_no_formulas():
    assert (
        to_markdown("<p>from $5 to $9, class=math</p><pre>\\(x\\)</pre>")
        == "from $5 to $9, class=math\n\n```\n\\(x\\)\n```\n"
    )


@pytest.mark.parametrize(("source", "expected"), [("", ""), (" $a$ ", "$a$"), ("$$a\nb$$", "$$a b$$"), ("a", "$a$")])
def test_delimited(source, expected):
    assert delimit(source) == expected


@pytest.mark.parametrize(
    ("inside", "latex"),
    [
        ("<mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable><mo>)</mo>",
         "\\begin{pmatrix} a & b \\end{pmatrix}"),
        ("<mfenced open='['><mtable><mtr><mtd><mi>a</mi></mtd></mtr></mtable></mfenced>", "[\\begin{matrix} a \\end{matrix})"),
        ("<mo>{</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>",
         "\\begin{cases} a & b \\end{cases}"),
        ("<mtable><mtr><mtd><mi>x</mi></mtd><mtd><mo>=</mo><mn>1</mn></mtd></mtr></mtable>",
         "\\begin{aligned} x & = 1 \\end{aligned}"),
        ("<mo>(</mo><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>", "\\binom{n}{k}"),
        ("<mo>{</mo><mi>x</mi><mo>}</mo>", "\\{ x \\}"),
    ],
)  # fmt: skip
def test_mathml_keeps_its_fences_and_tables(inside: str, latex: str) -> None:
    assert to_markdown(f"<p><math>{inside}</math>").strip() == f"${latex}$"


MATHML = st.recursive(
    st.sampled_from(
        ["<mi>a</mi>", "<mn>2</mn>", "<mtext>a &amp; { b</mtext>", *(f"<mo>{sign}</mo>" for sign in "(){}[]|=")]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda each: f"<mrow>{''.join(each)}</mrow>"),
        st.tuples(inner, inner).map(lambda two: f"<mfrac linethickness='0'>{two[0]}{two[1]}</mfrac>"),
        st.tuples(inner, inner).map(lambda two: f"<msup>{two[0]}{two[1]}</msup>"),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda cells: f"<mtable><mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in cells)}</mtr></mtable>"
        ),
    ),
    max_leaves=8,
)


@given(st.lists(MATHML, min_size=1, max_size=3))
def test_latex_of_mathml_is_balanced(parts: list[str]) -> None:
    latex = to_markdown(f"<p><math>{''.join(parts)}</math>").strip()
    bare = re.sub(r"\\[{}&]", "", latex.replace("\\\\", ""))
    depth = 0
    for brace in re.findall("[{}]", bare):
        depth += 1 if brace == "{" else -1
        assert depth >= 0, latex
    assert depth == 0, latex
    assert latex.count("\\left") == latex.count("\\right"), latex
    open_tables = 0
    for token in re.findall(r"\\begin\{|\\end\{|&", bare):
        open_tables += {"\\begin{": 1, "\\end{": -1}.get(token, 0)
        assert token != "&" or open_tables, latex
    assert open_tables == 0
