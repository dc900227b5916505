"""Builds the documentation: `make docs` writes it into target/docs.

Pages are Markdown that can be read in the repository, too. The build executes their code cells and stops
at a failure or a warning. The tables of commands, keys and presets come from the program
(`references.py`). The committed pictures are drawn again and compared (`draw.py`). Neither the build nor
the pages fetch anything from the network.
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

# Fences of colons are off because the test suite would not see the code in them.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 400
nb_execution_raise_on_error = True
nb_execution_show_tb = True
# Output of a cell on standard error is a warning, and warnings fail the build.
nb_output_stderr = "remove-warn"
nb_render_markdown_format = "gfm"
# Settings and flags outside of code keep their quotes and dashes, so that they can be copied.
smartquotes = False
# Widgets would fetch scripts from the network.
nb_ipywidgets_js = {}
# Pages need no progress bars.
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
