"""Links two waves by brute force with NumPy or recordlinkage, beside
dev/benchmarks/groups/linkage.R:

    python3 dev/benchmarks/peers-linkage.py <numpy|recordlinkage> <wave1> <wave2> [<queries>]

The files are those of write_waves(); 0 is missing. Prints the seconds for the
first `queries` records of wave 2 (all by default), the number of certain
matches and the expected number of correct ones, for the comparison with ours.
"""

import csv
import sys
import time

import numpy as np

tool, path1, path2 = sys.argv[1:4]


def read(path):
    with open(path) as file:
        rows = list(csv.reader(file))
    return rows[0], np.array(rows[1:], dtype=np.int64)


names, one = read(path1)
_, two = read(path2)
two = two[: int(sys.argv[4])] if len(sys.argv) > 4 else two
keys = [v for v, name in enumerate(names) if name != "id"]
id1, id2 = one[:, names.index("id")], two[:, names.index("id")]


def with_numpy():
    columns = [np.ascontiguousarray(one[:, v].astype(np.uint8)) for v in keys]
    observed = [c != 0 for c in columns]
    for row in two:
        d = np.zeros(len(one), dtype=np.uint8)
        for v, column, seen in zip(keys, columns, observed):
            if row[v] != 0:
                d += (column != row[v]) & seen
        yield d


def with_recordlinkage():
    import pandas as pd
    import recordlinkage

    frame1 = pd.DataFrame(one[:, keys], columns=[names[v] for v in keys])
    for start in range(0, len(two), 400):
        part = two[start : start + 400]
        frame2 = pd.DataFrame(part[:, keys], columns=frame1.columns)
        pairs = recordlinkage.index.Full().index(frame2, frame1)
        compare = recordlinkage.Compare()
        for name in frame1.columns:
            compare.exact(name, name)
        equal = compare.compute(pairs, frame2, frame1).to_numpy().astype(bool)
        equal = equal.reshape(len(part), len(one), len(keys))
        for i, row in enumerate(part[:, keys]):
            missing = (row == 0) | (one[:, keys] == 0)
            yield (~equal[i] & ~missing).sum(axis=1)


began = time.perf_counter()
certain, expected = 0, 0.0
place = {person: row for row, person in enumerate(id1)}
distances = with_numpy() if tool == "numpy" else with_recordlinkage()
for person, d in zip(id2, distances):
    own = place.get(person)
    best = d.min()
    n_best = int((d == best).sum())
    if own is not None and d[own] == best:
        certain += n_best == 1
        expected += 1 / n_best
print("RESULT", time.perf_counter() - began, certain, expected)
