"""How the documentation is built; CONTRIBUTING.md has the commands."""

import re
from dataclasses import is_dataclass
from importlib import import_module

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.docutils import SphinxDirective

from oddhop import __version__
from oddhop.base import settings

project = "oddhop"
author = project_copyright = "The oddhop maintainers"
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"oddhop {release}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["formulas.css", "notebooks.css"]
# Formulas become MathML, which browsers draw themselves: a page fetches nothing from elsewhere.
html_math_renderer = "mathml"

# The outputs are stored in the notebooks; tests execute them afresh.
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# Written out, these types fill a screen; a signature is to be read.
autodoc_type_aliases = {
    "Ints": "~oddhop.base.arrays.Ints",
    "Floats": "~oddhop.base.arrays.Floats",
    "Bools": "~oddhop.base.arrays.Bools",
    "Progress": "~oddhop.base.parallel.Progress",
    "npt.ArrayLike": "~numpy.typing.ArrayLike",
    "pa.Table": "~pyarrow.Table",
    "sp.csr_array": "~scipy.sparse.csr_array",
    "sp.sparray": "~scipy.sparse.sparray",
    "sp.spmatrix": "~scipy.sparse.spmatrix",
}

nitpicky = True
# Types of other projects. Their inventories are on the network, and the build uses none.
nitpick_ignore_regex = [
    (r"py:.*", r"(matplotlib|numpy|npt|scipy|torch|sklearn|pyarrow|pa|pydantic|collections|os|pathlib)\..*"),
    # Those of Python itself, for the same reason.
    (
        r"py:.*",
        r"(ArithmeticError|Exception|MemoryError|ValueError|Any|PathLike|Path|Sequence|Mapping|Callable|Literal)",
    ),
]

# Sphinx takes defaults from the source of a function, where settings are ``**options``; they are listed below it.
settings.with_keywords = lambda own, *_: own

NAMES_AND_TEXT = re.compile(r"(\w+(?:, \w+)*) : (.+)")


def setup(app):
    """Teach Sphinx our formulas and the way our docstrings list names."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.add_directive("settings", SettingsTable)
    app.add_directive("commands", CommandsTable)
    app.connect("autodoc-process-signature", plain_signature)
    app.connect("autodoc-process-docstring", list_names, priority=400)  # before napoleon, at 500


def inline_formula(writer, node):
    """Draw a formula within a sentence."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_formula(writer, node):
    """Draw a formula on its own line."""
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def plain_signature(_app, what, _name, obj, _options, signature, returned):
    """Leave out the signature of a dataclass, whose fields are listed below it, and show aliases by name."""
    if what == "class" and is_dataclass(obj):
        return "", None
    bare = [text and re.sub(r"TypeAliasForwardRef\('([^']+)'\)", r"\1", text) for text in (signature, returned)]
    bare[0] = bare[0] and re.sub(r"(\*\*\w+): [^,)]*Unpack\[[^\]]*\]", r"\1", bare[0])
    return tuple(bare)


class SettingsTable(SphinxDirective):
    """A table of the fields of a settings class, named as module:class."""

    required_arguments = 1

    def run(self):
        """Write a row for every field."""
        module, _, name = self.arguments[0].partition(":")
        rows = ["| option | setting | what it does |", "|---|---|---|"]
        for one in settings.options_of(getattr(import_module(module), name)):
            flag = ", ".join(f"`{each}`" for each in (one.flag or "").split("/") if each)
            flag += " turns it off" if one.flag and one.default is True else ""
            default = f" Default: {one.shown}." if one.shown else ""
            rows.append(
                f"| {flag}{', repeatable' if one.repeatable else ''} | `{one.name}` | {one.sentence}{default} |"
            )
        return self.parse_text_to_nodes("\n".join(rows))


class CommandsTable(SphinxDirective):
    """A table of the commands, by their help."""

    def run(self):
        """Write a row for every command, and one for every command about a book of cases."""
        from typer.main import get_command

        from oddhop.cli import app

        def rows(group, before):
            for name, one in group.commands.items():
                if hasattr(one, "commands"):
                    yield from rows(one, f"{before} {name}")
                else:
                    yield f"| `{before} {name}` | {one.get_short_help_str(limit=1000)} |"

        return self.parse_text_to_nodes(
            "\n".join(["| command | what it does |", "|---|---|", *rows(get_command(app), "oddhop")])
        )


def list_names(_app, _what, _name, _obj, _options, lines):
    """Turn ``name, name : what it is`` under Parameters and Attributes into a list of definitions.

    After the colon napoleon expects a type; ours are in the signature, and what follows is a sentence.
    """
    out, listing = [], False
    for number, line in enumerate(lines):
        underlined = number + 1 < len(lines) and re.fullmatch("-{3,}", lines[number + 1])
        if underlined:
            listing = line in ("Parameters", "Attributes")
            out.append(f".. rubric:: {line}" if listing else line)
        elif listing and re.fullmatch("-{3,}", line):
            out.append("")
        elif listing and (entry := NAMES_AND_TEXT.fullmatch(line)):
            names = ", ".join(f"``{one}``" for one in entry[1].split(", "))
            out += [names, f"    {entry[2]}"]
        else:
            out.append(line)
    lines[:] = out
