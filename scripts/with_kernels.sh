#!/bin/sh
# The demo and the tests of what is computed in doubles, once with each of the named kernels of OpenBLAS.
# A kernel that this processor cannot run, or that this OpenBLAS does not have, is said and left out.
set -eu
for kernel in "$@"; do
    found=$(OPENBLAS_CORETYPE=$kernel "$PYTHON" -c '
import numpy, scipy.linalg, threadpoolctl
square = numpy.eye(300) + numpy.ones((300, 300))
scipy.linalg.cholesky(square @ square)  # ends here if an instruction is missing
print(threadpoolctl.threadpool_info()[0]["architecture"])' 2>/dev/null) || found=none
    case "$kernel:$found" in
    "$kernel:$kernel" | Prescott:Katmai) ;; # the oldest kernels have the name of an older processor
    *)
        echo "$kernel: not on this machine"
        continue
        ;;
    esac
    for threads in 1 2; do
        folder=$(mktemp -d)
        echo "$kernel, $threads threads: the demo"
        OPENBLAS_CORETYPE=$kernel OPENBLAS_NUM_THREADS=$threads "$PYTHON" examples/rand_health/demo.py "$folder" >/dev/null
        rm -r "$folder"
    done
    echo "$kernel: tests"
    OPENBLAS_CORETYPE=$kernel "$PYTHON" -m pytest -q -n 2 --dist loadfile --max-worker-restart 0 -p no:cacheprovider \
        -m "not slow and not engines and not node and not browser and not r" \
        tests/solvers tests/measures tests/mechanisms tests/evidence tests/papers tests/cli src/dalenius
    DALENIUS_TESTS=all OPENBLAS_CORETYPE=$kernel "$PYTHON" -m pytest -q -n 2 -p no:cacheprovider \
        tests/mechanisms/columns/test_always_an_answer.py
done
