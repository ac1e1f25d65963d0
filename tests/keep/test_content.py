"""Main content as a value: the places of posts and images."""

import dripper
from dripper.html import preprocess
from dripper.keep.content import cut_content
from dripper.keep.posts import Post
from dripper.settings import HtmlSettings
from dripper.write.markdown import write_markdown
from dripper.write.markdown.output import Heads

ANN, BO = Post("Ann", "2024-05-03"), Post("Bo")


def test_posts_and_images_have_places_in_the_tree() -> None:
    page = preprocess("<div><p>One <img src=a.png alt=A><video src=/f.mp4></video></p></div><div><p>Two</p></div>")
    content = cut_content(page, page.item_ids, HtmlSettings(), None, {1: ANN, 2: BO})
    tree = content.tree
    assert content.main_html == "".join(tree.parts)
    assert "<hr" not in content.main_html
    assert [tree.tags[rule] for rule in content.posts] == ["hr", "hr"]
    assert [tree.text(tree.parents[rule]).strip()[:3] for rule in content.posts] == ["One", "Two"]
    assert [tree.start_tag(element) for element in content.images] == ['<img src="a.png" alt="A">']
    markdown = write_markdown(tree, heads=Heads("# T", False, content.posts))
    assert [markdown.lines[line] for line in markdown.posts.values()] == ["**Ann** · 2024-05-03", "**Bo**"]
    ((line, column),) = markdown.images.values()
    assert markdown.lines[line][column:] == "![A](a.png)"


def test_an_image_is_found_beside_the_same_markup_in_code() -> None:
    (image,) = dripper.extract(
        "<p>Write <code>![A](a.png)</code> for <img src=a.png alt=A> in Markdown.</p>", labeler="all"
    ).images
    assert image.place == len("Write `![A](a.png)` for ")


def test_removed_elements_leave_the_places_of_posts() -> None:
    page = preprocess("<div><p>One <svg><set></set><text>x</text></svg></p></div><div><p>Two</p></div>")
    content = cut_content(page, page.item_ids, HtmlSettings(), None, {len(page.blocks): BO})
    assert "<set" not in content.main_html
    assert [content.tree.text(content.tree.parents[rule]) for rule in content.posts] == ["Two"]
