"""What everything stands on: dtypes, devices, sizes, schemas, errors. The standard library only."""
