#!/bin/sh
# Compiles the Python layer against the core of this folder (made by cmake/gpu-bundle.sh). Run in the root of a checkout, with the Python
# to use as "python3".
set -eu
HERE=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
WORK=${TRIVET_BUNDLE_WORK:-/tmp/trivet-bundle}
mkdir -p "$WORK"
xz -dkc "$HERE/libtrivet_core.so.xz" >"$WORK/libtrivet_core.so"
tar -C "$WORK" -xJf "$HERE/absl.tar.xz"
tar -C "$WORK" --strip-components=1 -xJf "$HERE/absl-libraries.tar.xz"
suffix=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
includes=$(python3 -m pybind11 --includes)
for source in python/bindings/*.cc; do
  # shellcheck disable=SC2086  # a list of options
  g++ -std=c++20 -O2 -fPIC -fvisibility=hidden -march=x86-64-v3 -DTRIVET_WITH_GPU -I. -I"$WORK" $includes \
    -c "$source" -o "$WORK/$(basename "$source").o" &
done
wait
rm -f python/trivet/_trivet*.so
g++ -shared "$WORK"/*.cc.o -o "python/trivet/_trivet$suffix" -L"$WORK" -ltrivet_core "$WORK"/libabsl*.so* \
  "-Wl,--disable-new-dtags,-rpath,$WORK"
PYTHONPATH=python python3 -c 'import trivet; print("trivet", trivet.__version__, trivet._trivet.gpu_problem() or "with a GPU")'
