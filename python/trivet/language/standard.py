"""The library part of the language: functions written in the language itself.

Nothing here is known to the frontend: a kernel that calls ``tl.softmax`` compiles the source below as it would
compile the user's own helper. What cannot be said in the language (``reduce``, ``sort``, ``gather``, …) comes from
``core``. Names, keyword arguments, result types and NaN rules are Triton 3.6's; docs/semantics.md has the rules of the
operations that these are made of.

Result types, unless ``dtype=`` says otherwise:

===================  ====================================  ===========================  ==================
function             integers narrower than 32 bits        f16, f8                      bf16
===================  ====================================  ===========================  ==================
sum, cumsum          i8 i16: i32; i1 u8 u16: u32           as the input                 sum: bf16; cumsum: f32
max, min             i32                                   f32                          f32
max, min + indices   as the input                          as the input                 f32
cumprod              as the input                          as the input                 f32
topk                 i32 (if k is less than the extent)    f32 (likewise)               f32 (likewise)
sort, flip, xor_sum  as the input                          as the input                 as the input
===================  ====================================  ===========================  ==================
"""

# Kernel code: the frontend checks its types, and it means other things by them than mypy does.
# mypy: ignore-errors

from ..jit import constexpr_function, jit
from . import core, math

# --- compile-time helpers ----------------------------------------------------------------------------------------------


@constexpr_function
def _is_power_of_two(n):
    """Whether the integer ``n`` is 1, 2, 4, 8, …"""
    return n > 0 and n & (n - 1) == 0


@constexpr_function
def _log2(n):
    """The exponent of ``n``, a power of two."""
    return n.bit_length() - 1


@constexpr_function
def _dim(dim, rank):
    """``dim`` counted from the front; the last dimension if None; -1 if there is no such dimension."""
    if dim is None:
        return rank - 1
    if not -rank <= dim < rank:
        return -1
    return dim % rank


@constexpr_function
def _without(shape, dim):
    """``shape`` less its dimension ``dim``."""
    return [extent for i, extent in enumerate(shape) if i != dim]


@constexpr_function
def _with_extent(shape, dim, extent):
    """``shape`` with dimension ``dim`` changed to ``extent``."""
    return [extent if i == dim else old for i, old in enumerate(shape)]


@constexpr_function
def _only(shape, dim):
    """The shape of a vector laid along ``dim``, to be broadcast to ``shape``: ``[1, .., shape[dim], .., 1]``."""
    return [extent if i == dim else 1 for i, extent in enumerate(shape)]


@constexpr_function
def _with_pairs(shape, dim, distance):
    """``shape`` with ``dim`` split in three, ``[blocks, 2, distance]``: elements that lie ``distance`` apart face."""
    blocks = shape[dim] // (2 * distance)
    return list(shape[:dim]) + [blocks, 2, distance] + list(shape[dim + 1 :])


@constexpr_function
def _moved_last(rank, dim):
    """The permutation that moves ``dim`` behind all others."""
    return [i for i in range(rank) if i != dim] + [dim]


@constexpr_function
def _moved_back(rank, dim):
    """The inverse of ``_moved_last``."""
    return [i if i < dim else rank - 1 if i == dim else i - 1 for i in range(rank)]


@constexpr_function
def _interleaved(shape):
    """The shape after the last dimension, of extent 2, is merged into the one before it."""
    return list(shape[:-2]) + [2 * shape[-2]]


@constexpr_function
def _sum_dtype(element, dtype):
    """The type to add in: ``dtype`` if given, else a 32-bit integer for a narrower one, else ``element``."""
    if dtype is not None:
        return dtype
    if element.is_int_signed() and element.int_bitwidth < 32:
        return core.int32
    if element.is_int_unsigned() and element.int_bitwidth < 32:
        return core.uint32
    return element


# --- conversions shared by reductions ------------------------------------------------------------------------------------


@jit
def _bf16_to_f32(x):
    if x.dtype.is_bf16():
        x = x.to(core.float32)
    return x


@jit
def _to_32_bits(x):
    """f32 for a narrower float, i32 for a narrower integer, signed or not; else ``x`` itself."""
    if x.dtype.primitive_bitwidth < 32:
        if x.dtype.is_floating():
            x = x.to(core.float32)
        else:
            x = x.to(core.int32)
    return x


@jit
def _index_along(shape: core.constexpr, dim: core.constexpr):
    """A tile of ``shape`` whose elements (i32) are their own index in dimension ``dim``."""
    index = core.reshape(core.arange(0, shape[dim]), _only(shape, dim))
    return core.broadcast_to(index, shape)


# --- elementwise and shape -----------------------------------------------------------------------------------------------


@jit
def floor_divide(x, y):
    """``x / y`` rounded down, for integers: Python's ``//``, where the operator of the language rounds towards zero.

    An extension; Triton has no such function.
    """
    quotient = x // y
    rest = x - quotient * y
    return core.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient)


@jit
def floor_mod(x, y):
    """The remainder of ``floor_divide``, with the sign of ``y``: Python's ``%``; for floats too.

    An extension; Triton has no such function.
    """
    rest = x % y
    return core.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


@jit
def cdiv(x, div):
    """``x / div`` rounded up, for ``x >= 0`` and ``div > 0``."""
    return (x + (div - 1)) // div


@jit
def sigmoid(x):
    """``1 / (1 + exp(-x))`` per element, for f32 and f64."""
    return 1 / (1 + math.exp(-x))


@jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """``exp(x) / sum(exp(x))`` along ``dim`` (the first if None), shifted by the maximum so that it can't overflow.

    Args:
        x: tile of floats; f16, bf16 and f8 are computed, and returned, as f32.
        dim: dimension that adds up to 1.
        keep_dims: accepted for Triton's sake; the shape of the result is that of ``x`` either way.
        ieee_rounding: divide correctly rounded.
    """
    axis: core.constexpr = 0 if dim is None else dim
    num = math.exp(x - max(x, axis, keep_dims=True))
    return math.fdiv(num, sum(num, axis, keep_dims=True), ieee_rounding)


@jit
def ravel(x, can_reorder=False):
    """``x`` as one dimension, in row-major order (in any order if ``can_reorder``)."""
    return core.reshape(x, [x.numel], can_reorder=can_reorder)


@jit
def squeeze(x, dim: core.constexpr):
    """``x`` without its dimension ``dim``, whose extent must be 1."""
    at: core.constexpr = _dim(dim, len(x.shape))
    core.static_assert(at >= 0, "squeeze: no such dimension")
    core.static_assert(x.shape[at] == 1, "squeeze: the extent of dim must be 1")
    return core.reshape(x, _without(x.shape, at))


@jit
def unsqueeze(x, dim: core.constexpr):
    """``x`` with a dimension of extent 1 inserted before ``dim``."""
    return core.expand_dims(x, dim)


@jit
def zeros(shape, dtype):
    """A tile of zeros. ``shape``: tuple or list of powers of two; ``dtype``: element type."""
    return core.full(shape, 0, dtype)


@jit
def zeros_like(input):
    """A tile of zeros with the shape and element type of ``input``."""
    return core.full(input.shape, 0, input.dtype)


@jit
def interleave(a, b):
    """``a`` and ``b`` in turns along the last dimension: ``[.., N]`` and ``[.., N]`` make ``[.., 2 * N]``.

    Two scalars make a tile of two elements.
    """
    pairs = core.join(a, b)
    if len(pairs.shape) == 1:
        return pairs
    return core.reshape(pairs, _interleaved(pairs.shape))


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Renumber a matrix of programs so that neighbours in launch order share operands.

    The matrix ``[size_i, size_j]``, numbered row by row, is walked in bands of ``size_g`` rows, each band column by
    column; a last band may have fewer rows. For 4 x 4 in bands of 2, element ``[i, j]`` holds its place in the walk::

        0  2  4  6
        1  3  5  7
        8 10 12 14
        9 11 13 15

    Returns:
        ``(new_i, new_j)``: the position, in the walk, of number ``i * size_j + j``.
    """
    place = i * size_j + j
    band_size = size_g * size_j
    first_row = place // band_size * size_g
    rows = core.minimum(size_i - first_row, size_g)
    within = place % band_size
    return first_row + within % rows, within // rows


# --- maximum and minimum -------------------------------------------------------------------------------------------------


@jit
def _larger(a, b):
    return core.maximum(a, b)


@jit
def _smaller(a, b):
    return core.minimum(a, b)


# The combine functions below see (value, index) of two elements. A comparison with NaN is false, so that the second
# element wins it; the first index wins among equals, or either one in the "fast" pair.


@jit
def _argmax_left(value1, index1, value2, index2):
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmax_fast(value1, index1, value2, index2):
    first = value1 > value2
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmin_left(value1, index1, value2, index2):
    first = (value1 < value2) | ((value1 == value2) & (index1 < index2))
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmin_fast(value1, index1, value2, index2):
    first = value1 < value2
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _with_index(input, axis):
    """``(input, index along axis)``, the operands of a reduction that returns indices; bf16 as f32."""
    core.static_assert(axis is not None, "a reduction that returns indices needs an axis")
    at: core.constexpr = _dim(axis, len(input.shape))
    core.static_assert(at >= 0, "reduction: no such axis")
    return _bf16_to_f32(input), _index_along(input.shape, at)


@jit
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The maximum along ``axis``, or of the whole tile if None. NaN is passed over unless all elements are NaN.

    Args:
        input: tile.
        axis: dimension to reduce; needed with ``return_indices``.
        return_indices: return ``(maximum, index)``, the index as i32.
        return_indices_tie_break_left: among equal elements return the lowest index, else any.
        keep_dims: keep the reduced dimensions, with extent 1.
    """
    if return_indices:
        if return_indices_tie_break_left:
            return core.reduce(_with_index(input, axis), axis, _argmax_left, keep_dims=keep_dims)
        else:
            return core.reduce(_with_index(input, axis), axis, _argmax_fast, keep_dims=keep_dims)
    else:
        return core.reduce(_to_32_bits(input), axis, _larger, keep_dims=keep_dims)


@jit
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """The index (i32) of the maximum along ``axis``; the lowest of several if ``tie_break_left``."""
    _, index = max(input, axis, True, tie_break_left, keep_dims)
    return index


@jit
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
    """The minimum along ``axis``, or of the whole tile if None. Arguments and NaN as for ``max``."""
    if return_indices:
        if return_indices_tie_break_left:
            return core.reduce(_with_index(input, axis), axis, _argmin_left, keep_dims=keep_dims)
        else:
            return core.reduce(_with_index(input, axis), axis, _argmin_fast, keep_dims=keep_dims)
    else:
        return core.reduce(_to_32_bits(input), axis, _smaller, keep_dims=keep_dims)


@jit
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """The index (i32) of the minimum along ``axis``; the lowest of several if ``tie_break_left``."""
    _, index = min(input, axis, True, tie_break_left, keep_dims)
    return index


# --- sums and scans ------------------------------------------------------------------------------------------------------


@jit
def _add(a, b):
    return a + b


@jit
def _multiply(a, b):
    return a * b


@jit
def _xor(a, b):
    return a ^ b


@jit
def _or(a, b):
    return a | b


@jit
def sum(input, axis=None, keep_dims=False, dtype: core.constexpr = None):
    """The sum along ``axis``, or of the whole tile if None, added in ``dtype`` (see the table at the top)."""
    out_dtype: core.constexpr = _sum_dtype(input.dtype, dtype)
    return core.reduce(input.to(out_dtype), axis, _add, keep_dims=keep_dims)


@jit
def xor_sum(input, axis=None, keep_dims=False):
    """The exclusive or of integers along ``axis``, or of the whole tile if None."""
    core.static_assert(input.dtype.is_int(), "xor_sum only supported for integers")
    return core.reduce(input, axis, _xor, keep_dims=keep_dims)


@jit
def reduce_or(input, axis, keep_dims=False):
    """The bitwise or of integers along ``axis``, or of the whole tile if None."""
    core.static_assert(input.dtype.is_int(), "reduce_or only supported for integers")
    return core.reduce(input, axis, _or, keep_dims=keep_dims)


@jit
def cumsum(input, axis=0, reverse=False, dtype: core.constexpr = None):
    """Running sums along ``axis``, each including its own element; from the end if ``reverse``."""
    value = _bf16_to_f32(input)
    out_dtype: core.constexpr = _sum_dtype(value.dtype, dtype)
    return core.associative_scan(value.to(out_dtype), axis, _add, reverse)


@jit
def cumprod(input, axis=0, reverse=False):
    """Running products along ``axis``, each including its own element; from the end if ``reverse``."""
    return core.associative_scan(_bf16_to_f32(input), axis, _multiply, reverse)


# --- order ---------------------------------------------------------------------------------------------------------------


@jit
def sort(x, dim: core.constexpr = None, descending: core.constexpr = False):
    """``x`` sorted along ``dim`` (the last if None), ascending unless ``descending``."""
    at: core.constexpr = _dim(dim, len(x.shape))
    core.static_assert(at >= 0, "sort: no such dimension")
    return core._sort(x, at, descending)


@jit
def topk(x, k: core.constexpr, dim: core.constexpr = None, descending: core.constexpr = True):
    """The ``k`` largest elements along ``dim`` (the last if None), largest first. ``k``: a power of two.

    ``descending=False`` gives the ``k`` smallest, smallest first.
    """
    at: core.constexpr = _dim(dim, len(x.shape))
    core.static_assert(at >= 0, "topk: no such dimension")
    core.static_assert(_is_power_of_two(k), "topk: k must be a power of two")
    core.static_assert(k <= x.shape[at], "topk: k exceeds the extent of dim")
    if k == x.shape[at]:
        return core._sort(x, at, descending)
    elif not descending:
        first: core.constexpr = _with_extent(x.shape, at, k)
        return core.gather(core._sort(_to_32_bits(x), at, False), _index_along(first, at), at)
    else:
        return core._topk(_to_32_bits(x), k, at)


@jit
def sort_impl(x, k: core.constexpr = None, dim: core.constexpr = None, descending: core.constexpr = False):
    """The first ``k`` elements (all if None) of ``sort(x, dim, descending)``."""
    at: core.constexpr = _dim(dim, len(x.shape))
    if k is None:
        return sort(x, at, descending)
    elif descending:
        return topk(x, k, at)
    else:
        first: core.constexpr = _with_extent(x.shape, at, k)
        return core.gather(sort(x, at), _index_along(first, at), at)


@jit
def bitonic_merge(x, dim: core.constexpr = None, descending: core.constexpr = False):
    """Sort ``x`` along ``dim`` (the last if None), where ``x`` first rises and then falls, or a rotation of that.

    Batcher's merge: elements that lie half the extent apart are put in order, then a quarter, and so on down to
    neighbours. Source: K. E. Batcher, "Sorting networks and their applications", AFIPS 1968.
    """
    at: core.constexpr = _dim(dim, len(x.shape))
    core.static_assert(at >= 0, "bitonic_merge: no such dimension")
    core.static_assert(_is_power_of_two(x.shape[at]), "bitonic_merge: the extent of dim must be a power of two")
    rank: core.constexpr = len(x.shape) + 2
    stages: core.constexpr = _log2(x.shape[at])
    result = x
    for stage in core.static_range(stages):
        distance: core.constexpr = x.shape[at] >> (stage + 1)
        pairs = core.reshape(result, _with_pairs(x.shape, at, distance))
        near, far = core.split(core.permute(pairs, _moved_last(rank, at + 1)))
        if descending:
            swap = near < far
        else:
            swap = near > far
        pairs = core.join(core.where(swap, far, near), core.where(swap, near, far))
        result = core.reshape(core.permute(pairs, _moved_back(rank, at + 1)), x.shape)
    return result


@jit
def flip(x, dim: core.constexpr = None):
    """``x`` with the order of its elements along ``dim`` (the last if None) reversed."""
    at: core.constexpr = _dim(dim, len(x.shape))
    core.static_assert(at >= 0, "flip: no such dimension")
    return core._flip(x, at)
