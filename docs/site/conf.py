"""Settings of Sphinx, which makes the site from what `python -m docs.site` has put together."""

project = "Rushlight"
author = "the authors of Rushlight"
copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

# Markdown as GitHub shows it: headings have anchors, links to files that are no pages stay files.
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []

# Types in signatures aren't looked up: half of them are Python's. Formulas that are told in a
# sentence aren't Python, and are shown without colours.
suppress_warnings = ["ref.python", "misc.highlighting_failure"]
nitpicky = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = True
# Thousands of names in the contents of each page would take longer than all the rest: a page of
# the reference lists its own.
toc_object_entries = False
highlight_language = "text"

html_theme = "furo"
html_title = "Rushlight"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_use_opensearch = ""
# Colours of code that can be read on a light page, numbers too; it comes with the theme.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "monokai"
