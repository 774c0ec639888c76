"""The site: ``./dev docs`` builds it into ``build/site``."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.io import StringOutput
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.builders.text import TextBuilder
from sphinx.writers.text import TextWriter

import gatewayfw

project = "gatewayfw"
author = "The gatewayfw authors"
copyright = author  # noqa: A001  (Sphinx's name)
version = release = gatewayfw.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build"]

# Docstrings are in Google's style; single backticks are names, as everywhere in the sources.
default_role = "code"
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    # Methods of private bases are methods of the class; those of Python's classes, and of our abstract ones, are known.
    "inherited-members": "BaseException, Mapping, dict, tuple, FileStore, Storage",
}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "mixed"
napoleon_use_ivar = True
add_module_names = False

html_theme = "furo"
html_title = "gatewayfw"
html_static_path = ["static"]
html_css_files = ["site.css"]
# The Markdown of each page is in `_sources`, for readers of llms.txt.
html_copy_source = True
html_sourcelink_suffix = ""
html_show_sourcelink = False


def setup(app: Sphinx) -> None:
    """Show drawings as their source, which reads as a list of arrows; add two lists."""
    app.add_lexer("mermaid", TextLexer)
    app.connect("build-finished", write_llms)
    app.connect("build-finished", write_outside)


#: What the Markdown of a page does not have: the texts of other files.
_ELSEWHERE = re.compile(r"^```\{(eval-rst|include|literalinclude)\}", re.MULTILINE)


def write_llms(app: Sphinx, error: Exception | None) -> None:
    """List all pages for language models: their Markdown, or plain text. Source: https://llmstxt.org."""
    if error is None:
        titles = sorted((name, title.astext()) for name, title in app.env.titles.items() if name != "index")
        builder = TextBuilder(app, app.env)
        builder.init()
        pages = "".join(f"- [{title}]({_readable(app, builder, name)})\n" for name, title in titles)
        (Path(app.outdir) / "llms.txt").write_text(f"# {project}\n\n> {gatewayfw.__doc__}\n\n## Pages\n\n{pages}")


def _readable(app: Sphinx, builder: TextBuilder, name: str) -> str:
    """Return where to read a page without HTML; a page that includes other files is written as text."""
    if not _ELSEWHERE.search(Path(app.env.doc2path(name)).read_text("utf-8")):
        return f"_sources/{name}.md"
    builder.prepare_writing({name})
    doctree = app.env.get_and_resolve_doctree(name, builder)
    path = f"text/{name}.txt"
    target = Path(app.outdir) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(TextWriter(builder).write(doctree, StringOutput(encoding="unicode")), "utf-8")
    return path


def write_outside(app: Sphinx, error: Exception | None) -> None:
    """List what pages link to outside of the site, which nothing fetches."""
    if error is None:
        found = {
            (node["refuri"], name)
            for name in app.env.all_docs
            for node in app.env.get_doctree(name).findall(nodes.reference)
            if node.get("refuri", "").startswith(("http:", "https:"))
        }
        listed = "".join(f"{url} {name}\n" for url, name in sorted(found))
        (Path(app.outdir) / "links-outside.txt").write_text(listed, "utf-8")
