#!/bin/sh
# Makes a folder to carry to a machine with a GPU that has Python, pybind11 and a C++ compiler but no LLVM: the core as one shared
# library, and what compiles the thin Python layer there.
#
#   cmake/gpu-bundle.sh [FOLDER]     here; FOLDER is build/gpu-bundle by default
#   sh FOLDER/install.sh             there, in a checkout of the same version: makes python/trivet/_trivet*.so
set -eu
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
OUT=${1:-$ROOT/build/gpu-bundle}
BUILD=$ROOT/build/bundle
cmake -S "$ROOT" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRIVET_CORE_SHARED=ON -DTRIVET_GPU=ON -DTRIVET_CPU=x86-64-v3 \
  -DTRIVET_TESTS=OFF -DTRIVET_BENCHMARKS=OFF -DTRIVET_EXTENSION=OFF >/dev/null
cmake --build "$BUILD" --target trivet_core "-j${TRIVET_JOBS:-$(nproc)}"
rm -rf "$OUT"
mkdir -p "$OUT"
strip -o "$OUT/libtrivet_core.so" "$BUILD/python/libtrivet_core.so"
xz -T0 -3 "$OUT/libtrivet_core.so"
# abseil: its shared libraries, and its headers from where the compiler finds them.
mkdir "$OUT/absl-libraries"
ldd "$BUILD/python/libtrivet_core.so" | sed -n 's/.*libabsl[^ ]* => \([^ ]*\) .*/\1/p' | while read -r library; do
  cp -L "$library" "$OUT/absl-libraries/"
done
tar -C "$OUT" -cJf "$OUT/absl-libraries.tar.xz" absl-libraries
rm -r "$OUT/absl-libraries"
absl=$(echo '#include <absl/base/config.h>' | g++ -M -x c++ - | tr ' ' '\n' | grep 'absl/base/config.h$' | sed 's|/base/config.h$||')
tar -C "$(dirname "$absl")" -cJf "$OUT/absl.tar.xz" absl
cp "$ROOT/cmake/gpu-bundle-install.sh" "$OUT/install.sh"
du -h "$OUT"/*
