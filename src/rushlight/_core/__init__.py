"""The engine room: storage, record, engine; compiled by mypyc where a C compiler was.

`RUSHLIGHT_PURE=1` runs the plain Python sources although compiled modules lie beside them.
"""

import os
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

if os.environ.get("RUSHLIGHT_PURE", "0") not in ("", "0"):
    # An ordinary path finder takes `x.so` before `x.py`; one that knows source files only,
    # put where the import system looks for this folder's finder, leaves it no choice.
    for _folder in __path__:
        sys.path_importer_cache[_folder] = FileFinder(_folder, (SourceFileLoader, SOURCE_SUFFIXES))
