"""Running a step: replay through NumPy, native driver, call frames."""
