"""Counts distinct keys with polars and DuckDB, beside dev/benchmarks/run.R:

    python3 dev/benchmarks/peers.py <polars|duckdb|pycanon> <csv> <threads> <sets> <p>

Counts `sets` of the key sets of size p, evenly spread over their order, or all
of them, and prints the seconds, the number counted and the sum of the distinct
counts, for the comparison with ours. Only distinct keys are counted here; the
package counts sample uniques and pairs in the same time it reports. Of pycanon the sum
is that of l over the sensitive columns, whose names are s and a number.
"""

import itertools
import os
import re
import sys
import time

tool, path, threads, wanted, p = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
os.environ["POLARS_MAX_THREADS"] = str(threads)


def key_sets(names):
    sets = list(itertools.combinations(names, p))
    if wanted >= len(sets):
        return sets
    step = (len(sets) - 1) / (wanted - 1)
    return [sets[round(i * step)] for i in range(wanted)]


if tool == "polars":
    import polars as pl

    data = pl.read_csv(path).with_columns(pl.all().cast(pl.UInt8))
    sets = key_sets(data.columns)
    version = pl.__version__

    def count():
        return sum(data.select(pl.struct(s).n_unique()).item() for s in sets)

elif tool == "pycanon":
    from importlib.metadata import version as version_of

    import pandas as pd
    from pycanon import anonymity

    data = pd.read_csv(path, dtype=str)
    sets = [name for name in data.columns if re.fullmatch(r"s\d+", name)]
    keys = [name for name in data.columns if name not in sets]
    version = version_of("pycanon")

    def count():
        return sum(anonymity.l_diversity(data, keys, [name]) for name in sets)

else:
    import duckdb

    con = duckdb.connect()
    con.execute(f"SET threads TO {threads}")
    con.execute(f"CREATE TABLE data AS SELECT COLUMNS(*)::UTINYINT FROM read_csv('{path}')")
    sets = key_sets([row[0] for row in con.execute("DESCRIBE data").fetchall()])
    version = duckdb.__version__

    def count():
        total = 0
        for s in sets:
            columns = ", ".join(s)
            query = f"SELECT count(*) FROM (SELECT 1 FROM data GROUP BY {columns})"
            total += con.execute(query).fetchone()[0]
        return total


began = time.perf_counter()
total = count()
print("RESULT", version, time.perf_counter() - began, len(sets), total)
