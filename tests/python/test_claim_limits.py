"""The limits and the sides of claims, written here again, from the sources' sentences.

tests/python/test_claims.py makes its points from the selections and the limits in claims.json, so
that it would follow wrong ones. Here each row of LIMITS has a value for which the sentence is true
and one for which it is not, both near the limit: a ratio of times, nanoseconds per input scaled by
the cards' peak bandwidths, a share of the peak, a relative error, or accesses. SIDES says of what
the value is: whose time over whose.
"""

import math
from typing import Any

import made_up
import pytest
from reduce_bench_report.claims import Verdict
from test_claims import (
    CLAIMS,
    COUNTED,
    READINGS,
    REGISTRY,
    START_NS,
    Json,
    alone,
    counted_accesses,
    lines_of,
    made_point,
    scaled_ns_at_start,
    specs_of,
    verdict,
    with_ratio,
)

SAME = 1.03  # "as fast as", "no gain": two measured times within 3 %
FLAT = 1.25  # "almost as", "basically constant"

# number of the claim, index of its check, a true value, a false one
LIMITS: list[tuple[int, int, float, float]] = [
    (1, 0, 2.07, 2.05),  # 2.33 times, a gain within a factor of 1.25 of 1.33
    (1, 0, 2.65, 2.67),
    (2, 0, 1.82, 1.8),  # 2.01
    (2, 0, 2.25, 2.27),
    (3, 0, 1.63, 1.61),  # 1.78
    (3, 0, 1.97, 1.98),
    (4, 0, 1.65, 1.63),  # 1.8
    (4, 0, 1.99, 2.01),
    (5, 0, 1.34, 1.32),  # 1.41
    (5, 0, 1.51, 1.52),
    (6, 0, 1.34, 1.33),  # 1.42
    (6, 0, 1.52, 1.53),
    (7, 0, 24.3, 24.2),  # 30.04
    (7, 0, 37.2, 37.4),
    (8, 0, 0.73, 0.71),  # "72 %"
    (9, 0, 1.36, 1.34),  # 1.44 times, a gain within a factor of 1.25 of 0.44
    (9, 0, 1.54, 1.56),
    (10, 0, 1.78, 1.76),  # 1.96
    (10, 0, 2.19, 2.21),
    (11, 0, 2.44, 2.42),  # 2.79
    (11, 0, 3.22, 3.25),
    (12, 0, 1.02, 1.04),  # "settles": the same on either side
    (12, 0, 0.98, 0.96),
    (13, 0, 0.99, 1.01),  # the time falls
    (14, 0, 0.75, 0.73),  # "74 %"
    (15, 0, 1.02, 1.04),  # "the same"
    (15, 0, 0.98, 0.96),
    (16, 0, SAME - 0.01, SAME + 0.01),  # "a performance equivalent to"
    (18, 0, 1.01, 0.99),  # "a winner"
    (19, 0, 1.01, 0.99),  # "the best solution for vectors length below"
    (20, 0, 1.51, 1.49),  # 6.011 and 3.704 s, a gain of 0.62
    (20, 0, 1.77, 1.79),
    (22, 0, 1.01, 0.99),  # ahead of the CPU at all sizes of the table
    *((23, index, 0.011, 0.009) for index in range(2)),  # 1 %
    (24, 0, 3.01, 3.02),  # "≈3N memory accesses"
    (24, 0, 2.99, 2.98),
    (24, 1, 1.285, 1.288),  # "1.28N"
    (24, 1, 1.275, 1.272),
    (25, 0, 1.01, 0.99),  # "faster"
    (26, 0, 0.99, 1.01),  # each an improvement
    (27, 0, 1.01, 0.99),  # the longest time of the table
    (28, 0, 1.54, 1.52),  # 29.45 and 17.69 ms, a gain of 0.66
    (28, 0, 1.82, 1.84),
    (29, 0, 3.25, 3.23),  # 17.69 and 4.65 ms
    (29, 0, 4.5, 4.51),
    (30, 0, 1.019, 1.022),  # 4.60 and 4.65 ms
    (30, 0, 0.982, 0.978),
    (32, 0, 1.01, 0.99),  # 7.02 and 7.68 ms
    (33, 1, 6.9, 6.8),  # 4.65 and 0.56 ms
    (33, 1, 10.1, 10.2),
    (34, 0, FLAT - 0.01, FLAT + 0.01),  # "stays almost constant"
    (34, 1, 2.01, 1.99),  # "steeply"
    (35, 0, 1.81, 1.79),  # twice
    (35, 0, 2.24, 2.26),
    (36, 0, FLAT - 0.01, FLAT + 0.01),  # without the step
    (36, 1, 1.01, 0.99),
    (37, 0, FLAT - 0.01, FLAT + 0.01),  # does not depend
    (38, 0, 1.01, 0.99),  # sorting does not help
    *((40, index, FLAT - 0.01, FLAT + 0.01) for index in range(2)),  # "basically constant"
    (41, 0, FLAT - 0.01, FLAT + 0.01),  # does not depend
    *((42, index, 2.01, 1.99) for index in range(2)),  # "much better": 2 times
    (43, 0, 2.51, 2.49),  # above 2.5 ns
    (43, 1, 1.81, 1.79),  # twice
    (43, 1, 2.24, 2.26),
    (44, 0, 4.92, 4.89),  # 5.9 times
    (44, 0, 7.08, 7.12),
    (45, 0, SAME - 0.01, SAME + 0.01),  # nothing more
    (46, 0, 0.98, 0.96),  # never slower
    (48, 0, 2.01, 1.99),  # the time doubles
    (49, 0, 1.61, 1.63),  # 1.62 ns or less
    (50, 0, 1.49, 1.48),  # 1.6 times
    (50, 0, 1.75, 1.77),
    (51, 0, FLAT - 0.01, FLAT + 0.01),  # the same time
    (52, 0, 2.01, 1.99),  # "a lot"
    (53, 0, 0.53, 0.51),  # 52 %
    (54, 1, SAME - 0.01, SAME + 0.01),  # "completely remove"
    (54, 2, 1.02, 1.04),  # "very little impact"
    (54, 2, 0.98, 0.96),
    (55, 0, 1.99, 2.01),  # "slightly less than twice"
    (55, 0, 1.61, 1.59),
    (56, 0, FLAT - 0.01, FLAT + 0.01),  # "almost constant"
    (56, 1, 0.99, 1.01),  # "one ns per input"
    (56, 2, 1.01, 0.99),  # global memory is faster
    (57, 0, 0.41, 0.39),  # 0.5 ns, within a factor of 1.25
    (57, 0, 0.62, 0.63),
    (57, 1, 1.01, 0.99),  # over 1 ns
    (57, 2, 1.01, 0.99),  # slightly faster
    (57, 2, FLAT - 0.01, FLAT + 0.01),
    (58, 0, 0.19, 0.21),  # less than 0.2 ns
    (58, 1, 0.49, 0.51),  # under 0.5 ns
    (59, 0, SAME - 0.01, SAME + 0.01),  # "does not seem to affect the performance at all"
    (60, 0, 0.98, 0.96),  # the best number of items
    (61, 0, 2.01, 1.99),  # "drops off sharply"
    (62, 0, 0.24, 0.26),  # "between 0.15 and 0.25 ns"
    (62, 1, 4.1, 3.9),  # more than one ns
    (63, 0, 1.01, 0.99),  # sorting does not help
    (64, 0, 1.34, 1.32),  # "33 % at worst"
    (64, 1, 1.41, 1.31),  # "40 % on average"
    (65, 0, 0.98, 0.96),  # "best for n = 8"
    (66, 0, SAME - 0.01, SAME + 0.01),  # "for any input data"
    (66, 1, FLAT - 0.01, FLAT + 0.01),  # "almost as well"
    (67, 0, 1.01, 0.99),  # "outperforms"
    (68, 0, 3.1, 2.9),  # "a factor of three and a factor of twelve"
    (68, 0, 11.9, 12.1),
    (68, 1, 5.1, 4.9),  # "a factor of six": a gain of 5, within the factor 1.25
    (68, 1, 7.2, 7.3),
    (68, 2, 4.1, 3.9),  # 4 to 17
    (68, 2, 16.9, 17.1),
    (68, 3, 9.1, 8.9),  # 11
    (68, 3, 13.4, 13.6),
    (68, 4, 14.7, 14.5),  # 18
    (68, 4, 22.2, 22.3),
    (69, 0, 0.98, 0.96),  # "the best configuration"
    (70, 0, 1.01, 0.99),  # "even worse than the best case"
    *((71, index, 1.01, 0.99) for index in range(2)),  # slower than the CPU
    (72, 0, 1.2, 1.3),  # "about 1 ns more"
    (72, 0, 0.85, 0.75),
    (72, 1, 0.45, 0.55),  # "far less"
    (73, 0, 1.01, 0.99),  # "slightly slower"
    (73, 0, FLAT - 0.01, FLAT + 0.01),
    (74, 0, 7.9, 8.1),  # 6 ns and less than 0.75: what its best gains
    *((75, index, 1.01, 0.99) for index in range(2)),  # "faster than any published"
    (76, 0, 1.6, 1.45),  # 1.62 times
    (76, 0, 1.7, 1.85),
    (77, 0, 1.01, 0.99),  # reduce2 is the slower one
    (78, 0, SAME - 0.01, SAME + 0.01),  # "no longer than"
    *((79, index, SAME - 0.01, SAME + 0.01) for index in range(4)),  # "as fast as"
    (79, 4, 0.33, 0.34),  # "a third of a nanosecond"
    *((80, index, SAME - 0.01, SAME + 0.01) for index in range(3)),
    (80, 3, 0.74, 0.76),  # "below 0.75 ns"
    (81, 0, SAME - 0.01, SAME + 0.01),  # "no improvement can be expected"
    (82, 0, 1.01, 0.99),  # the tree takes longer than the CPU
    (83, 0, 0.19, 0.21),  # "0.2 ns"
    (83, 1, 0.19, 0.21),
    (84, 0, 0.45, 0.55),  # "about 0.4 ns"
    (84, 0, 0.35, 0.3),
    *((85, index, 1.01, 0.96) for index in range(3)),  # "this choice is fastest"
    (86, 0, 0.99, 1.01),  # "better if nBuckets < 2^10"
    (86, 1, 1.01, 0.99),
    (87, 0, 1.01, 0.99),  # "always achieved using manual loop unrolling"
    (88, 0, 0.96, 0.98),  # "substantial up to F = 6": a step gains more than what is the same
    (88, 1, 1.02, 1.04),  # "very discrete with F >= 8"
    (88, 1, 0.98, 0.96),
    (89, 0, 1.01, 0.99),  # "always faster"
    (90, 0, 2.1, 1.9),  # "far better"
    (91, 0, 1.01, 0.99),  # "worse performance"
    (92, 0, 0.19, 0.21),
    (92, 1, 0.19, 0.21),
    (92, 2, 1.01, 0.99),
    (93, 0, 1.2, 1.3),  # "efficiently": within a quarter
]

# The same of checks that a regime states anew.
LIMITS_IN_REGIME: list[tuple[int, int, float, float]] = [
    (16, 0, SAME - 0.01, SAME + 0.01),
    (34, 0, FLAT - 0.01, FLAT + 0.01),
    (34, 1, 2.01, 1.99),
    (48, 0, 2.01, 1.99),
    (62, 0, 0.24, 0.26),
    (62, 1, 2.71, 2.69),  # 0.590 and 0.218 ns
    (62, 2, 4.1, 3.9),
    (66, 0, SAME - 0.01, SAME + 0.01),
    (66, 1, FLAT - 0.01, FLAT + 0.01),
    *((67, index, 1.01, 0.99) for index in range(2)),
    (70, 0, 1.01, 0.99),
    *((71, index, 1.01, 0.99) for index in range(2)),
    *((75, index, 1.01, 0.99) for index in range(3)),
    *((78, index, SAME - 0.01, SAME + 0.01) for index in range(2)),
]

ALL_LABELS = "labels=uniform,degenerate,photo,graphic"
EIGHT = "eilers/banktrish F=8"
THREE_BLOCKS = "groups_per_sm=2.5..3"
ORDERED = (
    "eilers/sort-shared,eilers/sort-global,eilers/global-ordered,eilers/global-ordered-sorted,"
    "eilers/shared-thread-ordered,eilers/vector,eilers/minimal"
)
COMMUTATIVE = (
    "eilers/shared-bank,eilers/global-atomic,eilers/global-atomic-sorted,"
    "eilers/shared-bank-multipass,eilers/shared-bank-sorted,eilers/shared-thread"
)

# Every deciding check of these claims: its number and index, whose time or quantity it has, and the
# kernel by whose time that is divided, or whose time is taken off it. A side lists kernels, then
# values of axes and of parameters.
SIDES: list[tuple[int, int, str, str | None]] = [
    (1, 0, "harris/0", "harris/1"),  # a step: the kernel before over the one named
    (2, 0, "harris/1", "harris/2"),
    (3, 0, "harris/2", "harris/3"),
    (4, 0, "harris/3", "harris/4"),
    (5, 0, "harris/4", "harris/5"),
    (6, 0, "harris/5", "harris/6"),
    (7, 0, "harris/0", "harris/6"),
    (8, 0, "harris/6", None),  # "Kernel 7"
    (9, 0, "catanzaro/two-stage", "jradi/unrolled tree=barriers F=2"),
    (10, 0, "catanzaro/two-stage", "jradi/unrolled tree=barriers F=4"),
    (11, 0, "catanzaro/two-stage", "jradi/unrolled tree=barriers F=8"),
    (12, 0, "jradi/unrolled tree=barriers F=8", "jradi/unrolled tree=barriers F=16"),
    (13, 0, "jradi/unrolled tree=barriers F=1,2,3,4,5,6,7,8,16", None),
    (14, 0, "jradi/unrolled tree=barriers F=8", None),
    (15, 0, "jradi/unrolled tree=barriers F=1,2,3,4,5,6,7,8,16 type=f32",
            "jradi/unrolled tree=barriers F=1,2,3,4,5,6,7,8,16 type=i32"),
    (16, 0, "jradi/unrolled tree=barriers F=8", "harris/6"),  # "besides simpler"
    (18, 0, "catanzaro/recursive,catanzaro/atomic", "catanzaro/two-stage"),  # of three strategies
    (19, 0, "report7/shared-tree n=2..536870912", "report7/naive-atomic n=2..536870912"),
    (20, 0, "report7/naive-atomic n=1073741824", "report7/shared-tree n=1073741824"),
    (22, 0, "cpu/sequential n=2..1073741824", "report7/naive-atomic n=2..1073741824"),
    (23, 0, "cpu/sequential type=f32 n=67108864..1073741824", None),
    (23, 1, "report7/naive-atomic type=f32 n=67108864..1073741824", None),
    (24, 0, "amp/simple-1", None),
    (24, 1, "amp/simple-2 window=8", None),
    (25, 0, "amp/simple-1", "amp/simple-2"),
    (26, 0, "amp/tiled-1,amp/tiled-2,amp/tiled-3,amp/tiled-4,amp/cascade", None),
    (27, 0, "epita/reduce2",
            "epita/reduce0,epita/reduce1,epita/reduce3,epita/add-twice,epita/reduce5,"
            "epita/add-twice-warp-unroll,epita/cascade-unrolled,epita/reduce7,epita/reduce8"),
    (28, 0, "epita/reduce2", "epita/reduce3"),
    (29, 0, "epita/reduce3", "epita/reduce5"),
    (30, 0, "epita/reduce7", "epita/reduce5"),
    (32, 0, "epita/reduce1", "epita/reduce0"),  # "Output privatization 7.68 ms"
    (33, 1, "epita/reduce5", "epita/reduce8 form=corrected"),
    (34, 0, "cpu/multireduce buckets=16..524288", None),
    (34, 1, "cpu/multireduce buckets=134217728", "cpu/multireduce buckets=524288"),
    (35, 0, "cpu/multiscan buckets=8..4096", "cpu/multireduce buckets=8..4096"),
    (36, 0, "cpu/multireduce pages=huge buckets=8388608..134217728", None),
    (36, 1, "cpu/multireduce pages=small buckets=134217728",
            "cpu/multireduce pages=huge buckets=134217728"),
    (37, 0, "cpu/multireduce labels=sequential buckets=8..134217728", None),
    (38, 0, "cpu/multireduce-sorted buckets=2097152..134217728",
            "cpu/multireduce buckets=2097152..134217728"),
    (40, 0, "thrust/reduce-by-key length=4..1048576", None),
    (40, 1, "thrust/reduce-by-key length=1", "thrust/reduce-by-key length=4"),
    (41, 0, "thrust/scan-by-key length=1..1048576", None),
    (42, 0, "eilers/global-ordered labels=uniform buckets=16",
            "eilers/global-ordered labels=degenerate buckets=256"),
    (42, 1, "eilers/global-ordered labels=uniform buckets=256",
            "eilers/global-ordered labels=degenerate buckets=256"),
    (43, 0, "eilers/global-ordered-sorted buckets=16384..1048576", None),
    (43, 1, "cpu/multireduce pages=small", "eilers/global-ordered-sorted"),
    (44, 0, "eilers/global-atomic sets=1 labels=degenerate",
            "eilers/global-atomic sets=8 labels=degenerate"),
    (45, 0, "eilers/global-atomic sets=8 labels=degenerate",
            "eilers/global-atomic sets=16,32 labels=degenerate"),
    (46, 0, "eilers/global-atomic sets=2,4,8,16,32 labels=uniform",
            "eilers/global-atomic sets=1 labels=uniform"),
    (48, 0, "eilers/global-atomic sets=2 buckets=65536",
            "eilers/global-atomic sets=1 buckets=65536"),
    (49, 0, "eilers/global-atomic-sorted labels=uniform,degenerate buckets=16384..16777216", None),
    (50, 0, "eilers/shared-thread-ordered buckets=256", "eilers/shared-thread buckets=256"),
    (51, 0, "eilers/shared-bank buckets=16..256", None),
    (52, 0, "eilers/shared-thread buckets=32..256", "eilers/shared-bank buckets=32..256"),
    (53, 0, "eilers/shared-bank buckets=16..256", None),
    (54, 0, "eilers/shared-bank merge=off labels=degenerate",
            "eilers/shared-bank merge=off labels=uniform"),  # "the performance disadvantage"
    (54, 1, "eilers/shared-bank merge=on labels=degenerate",
            "eilers/shared-bank merge=on labels=uniform"),
    (54, 2, "eilers/shared-bank merge=on labels=uniform",
            "eilers/shared-bank merge=off labels=uniform"),  # "impact ... for random data"
    (55, 0, "eilers/shared-bank-multipass buckets=256..16384", None),
    (56, 0, "eilers/shared-bank-sorted sort=suite buckets=512..16384", None),
    (56, 1, "eilers/shared-bank-sorted buckets=512..16384", None),
    (56, 2, "eilers/shared-bank-sorted buckets=512..16384",
            "eilers/global-atomic buckets=512..16384"),
    (57, 0, "eilers/sort-global buckets=16", None),
    (57, 1, "eilers/sort-global buckets=4096", None),
    (57, 2, "eilers/sort-global labels=uniform", "eilers/sort-global labels=degenerate"),
    (58, 0, "eilers/sort-shared buckets=16..256", None),
    (58, 1, "eilers/sort-shared buckets=1024..4096", None),
    (59, 0, "eilers/sort-shared transpose=on", "eilers/sort-shared transpose=off"),
    (60, 0, "eilers/sort-shared items=4,8 transpose=on",
            "eilers/sort-shared items=12 transpose=on"),
    (61, 0, "eilers/sort-shared buckets_per_tile=4..16",
            "eilers/sort-shared buckets_per_tile=0.25..1"),
    (62, 0, "gpu/scatter buckets=256..65536", None),
    (62, 1, "gpu/scatter buckets=4194304", "gpu/scatter buckets=256..65536"),
    (63, 0, "eilers/scatter-sorted", "gpu/scatter"),
    (64, 0, f"brown/trish {ALL_LABELS}", EIGHT),  # "outperforms TRISH"
    (64, 1, f"brown/trish {ALL_LABELS}", EIGHT),
    (65, 0, f"eilers/banktrish F=2,3,4,5,6,7 {ALL_LABELS}", EIGHT),
    (66, 0, f"brown/trish {ALL_LABELS}", None),
    (66, 1, f"brown/trish {ALL_LABELS}", "podlozhnyuk/256 method=tags labels=uniform"),
    (67, 0, "podlozhnyuk/256,nugteren/shuffled,nugteren/private method=tags "
            "labels=uniform,degenerate", EIGHT),
    (68, 0, "cpu/multireduce pages=small", f"{ORDERED} transpose=on padding=on"),
    (68, 1, "cpu/multireduce pages=small", f"{ORDERED} transpose=on padding=on"),
    (68, 2, "cpu/multireduce pages=small", COMMUTATIVE),
    (68, 3, "cpu/multireduce pages=small", COMMUTATIVE),
    (68, 4, "cpu/multireduce pages=small buckets=16..256", "eilers/shared-bank buckets=16..256"),
    (69, 0, "sheffler/global threads=32,64", "sheffler/global threads=16"),
    (70, 0, "sheffler/shared threads=32,62 buckets=256", "sheffler/global buckets=256"),
    (71, 0, "sheffler/global threads=16,32,64", "cpu/multiscan"),
    (71, 1, "sheffler/shared threads=32,62", "cpu/multiscan"),
    (72, 0, "eilers/multiscan-sort-global scanned=values labels=uniform",
            "eilers/multiscan-sort-global scanned=values labels=degenerate"),
    (72, 1, "eilers/sort-global labels=uniform", "eilers/sort-global labels=degenerate"),
    (73, 0, "eilers/multiscan-sort-shared", "eilers/sort-shared"),
    (74, 0, "cpu/multiscan",
            "eilers/multiscan-sort-global,eilers/multiscan-sort-shared,eilers/multiscan-global,"
            "eilers/multiscan-shared,eilers/multiscan-vector,sheffler/global,sheffler/shared"),
    (75, 0, "brown/trish,podlozhnyuk/256,nugteren/shuffled,nugteren/private method=tags "
            f"{ALL_LABELS}", EIGHT),
    (75, 1, f"shams/passes,shams/spill {ALL_LABELS}", EIGHT),
    (76, 0, "epita/reduce0", "epita/reduce1"),
    (77, 0, "epita/reduce2", "epita/reduce1"),
    (78, 0, f"eilers/shared-bank merge=on {ALL_LABELS}",
            "brown/trish,podlozhnyuk/256,nugteren/shuffled,nugteren/private method=tags"),
    *((79, index, f"eilers/sort-shared buckets={buckets}", "thrust/reduce-by-key length=65536")
      for index, buckets in enumerate((16, 64, 256, 1024))),  # "up to 1024 buckets"
    (79, 4, "eilers/sort-shared buckets=16,64,256,1024", None),
    *((80, index, f"eilers/multiscan-sort-shared buckets={buckets}",
       "thrust/scan-by-key length=262144")
      for index, buckets in enumerate((16, 64, 256))),  # "up to 2^8 buckets"
    (80, 3, "eilers/multiscan-sort-shared buckets=16,64,256", None),
    (81, 0, "cpu/multireduce pages=small", "cpu/multireduce-parallel"),
    (82, 0, "report7/shared-tree n=2..65536", "cpu/sequential n=2..65536"),
    (83, 0, "eilers/scatter-sorted traversal=contiguous buckets=262144 sort_bits=10",
            "eilers/radix-sort buckets=1024 bits=5"),  # "contiguous segments"
    (83, 1, "eilers/scatter-sorted traversal=contiguous buckets=4194304 sort_bits=15",
            "eilers/radix-sort buckets=32768 bits=5"),
    (84, 0, "eilers/radix-sort bits=5 buckets=32", None),
    (85, 0, "eilers/shared-bank warps=1,4,8,16,32", "eilers/shared-bank buckets=16 warps=2"),
    (85, 1, "eilers/shared-bank warps=1,2,4,16,32", "eilers/shared-bank buckets=64 warps=8"),
    (85, 2, "eilers/shared-bank warps=1,2,4,8,16", "eilers/shared-bank buckets=256 warps=32"),
    (86, 0, "eilers/multiscan-sort-shared totals=shared buckets=64,256,512",
            "eilers/multiscan-sort-shared totals=global buckets=64,256,512"),
    (86, 1, "eilers/multiscan-sort-shared totals=shared buckets=1024,2048,4096,16384",
            "eilers/multiscan-sort-shared totals=global buckets=1024,2048,4096,16384"),
    (87, 0, "catanzaro/two-stage unroll=2,4,8,16",
            "jradi/unrolled tree=barriers predicate=select"),
    (88, 0, "jradi/unrolled tree=barriers F=1,2,3,4,5,6", None),
    (88, 1, "jradi/unrolled tree=barriers F=8", "jradi/unrolled tree=barriers F=16"),
    (89, 0, "eilers/global-ordered padding=off", "eilers/global-ordered padding=on"),
    (90, 0, "eilers/global-atomic sets=per-block labels=degenerate",
            "eilers/global-atomic sets=8 labels=degenerate"),
    (91, 0, "eilers/multiscan-sort-global scanned=pairs",
            "eilers/multiscan-sort-global scanned=values"),
    (92, 0, "eilers/scatter-sorted traversal=contiguous buckets=262144 sort_bits=10",
            "eilers/radix-sort buckets=1024 bits=5"),
    (92, 1, "eilers/scatter-sorted traversal=strided buckets=524288 sort_bits=10",
            "eilers/radix-sort buckets=1024 bits=5"),
    (92, 2, "eilers/scatter-sorted traversal=contiguous buckets=524288 sort_bits=10",
            "eilers/scatter-sorted traversal=strided buckets=524288 sort_bits=10"),
    (93, 0, "jradi/unrolled backend=opencl", "jradi/unrolled backend=cuda"),
]  # fmt: skip

SIDES_IN_REGIME: list[tuple[int, int, str, str | None]] = [
    (16, 0, "jradi/unrolled tree=barriers F=8 groups_per_sm=0.5..1", "harris/6"),
    (34, 0, "cpu/multireduce buckets=16..None bucket_bytes_per_l2=0..1", None),
    (34, 1, "cpu/multireduce bucket_bytes_per_l2=141..256",
            "cpu/multireduce bucket_bytes_per_l2=0.55..1"),
    (48, 0, "eilers/global-atomic bucket_bytes_per_l2=1..2",
            "eilers/global-atomic bucket_bytes_per_l2=0.5..1"),
    (62, 0, "gpu/scatter bucket_bytes_per_l2=0.0005..1", None),
    (62, 1, "gpu/scatter bucket_bytes_per_l2=2..8", "gpu/scatter bucket_bytes_per_l2=0.25..1"),
    (62, 2, "gpu/scatter bucket_bytes_per_l2=8..64", "gpu/scatter bucket_bytes_per_l2=0.25..1"),
    (66, 0, f"brown/trish {ALL_LABELS} {THREE_BLOCKS}", None),
    (66, 1, f"brown/trish {ALL_LABELS} {THREE_BLOCKS}",
            "podlozhnyuk/256 method=tags labels=uniform"),
    (67, 0, "podlozhnyuk/256,nugteren/shuffled method=tags labels=uniform,degenerate",
            f"{EIGHT} {THREE_BLOCKS}"),
    (67, 1, f"nugteren/private labels=uniform,degenerate {THREE_BLOCKS}",
            f"{EIGHT} {THREE_BLOCKS}"),
    (70, 0, "sheffler/shared threads=32,62 shared_kib=48", "sheffler/global"),
    (71, 0, "sheffler/global threads=16,32,64", "cpu/multiscan"),
    (71, 1, "sheffler/shared threads=32,62 shared_kib=48", "cpu/multiscan"),
    (75, 0, f"podlozhnyuk/256,nugteren/shuffled method=tags {ALL_LABELS}",
            f"{EIGHT} {THREE_BLOCKS}"),
    (75, 1, f"brown/trish,nugteren/private {ALL_LABELS} {THREE_BLOCKS}",
            f"{EIGHT} {THREE_BLOCKS}"),
    (75, 2, f"shams/passes,shams/spill {ALL_LABELS}", f"{EIGHT} {THREE_BLOCKS}"),
    (78, 0, f"eilers/shared-bank merge=on {ALL_LABELS}",
            "podlozhnyuk/256,nugteren/shuffled method=tags"),
    (78, 1, f"eilers/shared-bank merge=on {ALL_LABELS}",
            f"brown/trish,nugteren/private {THREE_BLOCKS}"),
]  # fmt: skip

PRINTED, REGIME = READINGS
LIMITS_READ = [(r, *row) for r, rows in ((PRINTED, LIMITS), (REGIME, LIMITS_IN_REGIME))
               for row in rows]  # fmt: skip
SIDES_READ = [(r, *row) for r, rows in ((PRINTED, SIDES), (REGIME, SIDES_IN_REGIME))
              for row in rows]  # fmt: skip


def checks_of(number: int, reading: str) -> list[Json]:
    """The claim's checks as it states them for that reading, none where it states none anew."""
    claim = CLAIMS[number]
    checks: list[Json] = (
        claim["checks"] if reading == PRINTED else claim["regime"].get("checks", [])
    )
    return checks


def steps_to(check: Json, first: Json, index: int, spec: Json) -> float:
    """How many of the steps by which the check judges lie between two points of a line."""
    if not check.get("per_doubling"):
        return index
    return math.log2(spec[check["along"]] / first[check["along"]])


def points_of(claim: Json, check: Json, value: float) -> list[Json]:
    """Points of the check whose quantity has that value."""
    kind = check["kind"]
    if kind == "ratio":
        return with_ratio(alone(claim, check), value)
    if kind == "difference":
        below, above = (specs_of(claim, check, check[side]) for side in ("to", "of"))
        longer_ns = START_NS * (1 + value / scaled_ns_at_start(check, below[0]))
        return [
            *(made_point(spec, START_NS) for spec in below),
            *(made_point(spec, longer_ns) for spec in above),
        ]
    if kind == "steps":
        return [
            made_point(spec, START_NS * value ** steps_to(check, line[0], step, spec))
            for line in lines_of(claim, check)
            for step, spec in enumerate(line)
        ]
    if kind == "flat":
        return [
            made_point(spec, START_NS * (value if spec is line[-1] else 1))
            for line in lines_of(claim, check)
            for spec in line
        ]
    specs = specs_of(claim, check, check["select"])
    if check["quantity"] == "share of peak":
        return [made_point(spec, START_NS, peak_share=value) for spec in specs]
    if check["quantity"] == "relative error":
        error = made_up.verification() | {"error_relative": value}
        return [made_point(spec, START_NS, verification=error) for spec in specs]
    if check["quantity"] == COUNTED:
        return [
            made_point(spec, START_NS, counters=counted_accesses(spec["n"], spec["type"], value))
            for spec in specs
        ]
    assert check["quantity"] == "scaled ns per input"
    return [made_point(spec, value / scaled_ns_at_start(check, spec) * START_NS) for spec in specs]


@pytest.mark.parametrize(("reading", "number", "index", "true", "false"), LIMITS_READ)
def test_the_source_s_sentence_decides(
    reading: str, number: int, index: int, true: float, false: float
) -> None:
    """A check holds at a value for which the sentence is true, and at the false one it does not."""
    claim = READINGS[reading][number]
    check = claim["checks"][index]
    near = Verdict.NOT_REPRODUCED if REGISTRY.limits(check).part is None else Verdict.IN_PART
    for value, expected in ((true, Verdict.REPRODUCED), (false, near)):
        assert verdict(alone(claim, check), points_of(claim, check, value)) is expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.99, False), (1.01, True), (1.05, True), (1.06, False)],  # 3 % around 2 %, and a gain
)
def test_a_gain_of_two_percent_is_one_and_not_beyond_the_same(ratio: float, expected: bool) -> None:
    """No part of it counts: half and twice of so little cannot be told from it."""
    (check,) = CLAIMS[31]["checks"]
    said = verdict(alone(CLAIMS[31], check), points_of(CLAIMS[31], check, ratio))
    assert said is (Verdict.REPRODUCED if expected else Verdict.NOT_REPRODUCED)


def written(wanted: Any) -> str:
    """What a selection asks for as a row has it; that some have no such parameter is left out."""
    if isinstance(wanted, dict):
        return f"{wanted['from']}..{wanted.get('to', wanted.get('below'))}"
    each = wanted if isinstance(wanted, list) else [wanted]
    return ",".join(str(value) for value in each if value is not None)


@pytest.mark.parametrize(("reading", "number", "index", "over", "under"), SIDES_READ)
def test_a_check_compares_what_the_source_compares(
    reading: str, number: int, index: int, over: str, under: str | None
) -> None:
    """Each side of a check has the row's kernels, and of each axis that is named the values."""
    check = checks_of(number, reading)[index]
    assert ("to" in check) is (under is not None)
    first = check.get("of") or check.get("select")
    if first is None:
        first = {"variant": [part["variant"] for part in check["sequence"]]}
    for row, part in ((over, first), (under, check.get("to"))):
        if row is None:
            continue
        selection = CLAIMS[number].get("base", {}) | part
        variants, *values = row.split()
        assert written(selection["variant"]) == variants
        for name, value in (each.split("=") for each in values):
            assert written(selection.get(f"params.{name}", selection.get(name))) == value


def test_the_checks_that_have_sides_here_decide_and_no_others() -> None:
    """A claim of SIDES has all its deciding checks there, and for each measured one a limit."""
    roles = {
        (reading, number, index): check.get("role", "measures")
        for reading in READINGS
        for number in {number for number, *_ in SIDES}
        for index, check in enumerate(checks_of(number, reading))
        if check["kind"] != "unavailable"
    }
    deciding = {row for row, role in roles.items() if role in ("measures", "requires")}
    assert {(reading, number, index) for reading, number, index, *_ in SIDES_READ} == deciding
    measured = {row for row, role in roles.items() if role == "measures"}
    assert measured <= {(reading, number, index) for reading, number, index, *_ in LIMITS_READ}


def test_every_claim_has_its_limits_and_sides_here() -> None:
    """But where results are right or wrong (17), or a simulator chooses (39)."""
    measured = {
        (number, index)
        for number, claim in CLAIMS.items()
        for index, check in enumerate(claim["checks"])
        if check.get("role", "measures") == "measures"
        and check["kind"] not in ("unavailable", "verification", "choice")
    }
    by_itself = {(31, 0)}  # test_a_gain_of_two_percent_is_one_and_not_beyond_the_same
    for rows in (LIMITS, SIDES):
        assert measured - by_itself <= {(number, index) for number, index, *_ in rows}


def test_four_threads_for_each_bucket_are_the_choice() -> None:
    """Algorithm 4.10 has four threads for each bucket, a warp 32."""
    for check in CLAIMS[85]["checks"]:
        buckets = check["to"]["buckets"]
        assert check["of"]["buckets"] == buckets
        assert 32 * check["to"]["params.warps"] == 4 * buckets
        others = {1, 2, 4, 8, 16, 32} - {check["to"]["params.warps"]}
        assert set(check["of"]["params.warps"]) == others
