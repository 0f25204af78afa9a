"""LLVM's text: types, values, functions, the machine, compiling, loading, the cache."""
