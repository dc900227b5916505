"""How the documentation is built: `make docs` writes it into target/docs.

Pages are Markdown that reads as well where it lies. Their code cells are executed by the build, and what
fails or warns there ends it. What can be asked of the program itself, its commands, keys and presets, is
written by it (`references.py`). Pictures that are committed are drawn again and compared (`draw.py`). Nothing
is fetched while it is built, and nothing by who reads it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import fowler

project = "Fowler"
author = "the authors of Fowler"
project_copyright = "the authors of Fowler"
version = release = fowler.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "references",
    "draw",
]

# No fences of colons: what is in them the test suite would not see.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
# What a cell says on standard error is a warning, and warnings end the build.
nb_output_stderr = "remove-warn"
nb_render_markdown_format = "gfm"
# Widgets would fetch their scripts.
nb_ipywidgets_js = {}
# A bar that counts requests belongs to who waits for them.
os.environ["TQDM_DISABLE"] = "1"

autodoc_member_order = "bysource"
autodoc_typehints = "both"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80

lexers["csv"] = TextLexer()

html_theme = "furo"
html_title = f"Fowler {release}"
html_static_path = ["static"]
html_css_files = ["fowler.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
