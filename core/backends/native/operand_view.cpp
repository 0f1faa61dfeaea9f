#include "backends/native/operand_view.h"

#include <algorithm>
#include <span>

namespace fusescope::native {

namespace {

/// Returns the place of `ref` without extents and strides.
Ref placeOf(const Ref& ref) {
  return {
      .buffer = ref.buffer, .offset = ref.offset, .dtype = ref.dtype, .dims = {}, .strides = {}, .format = ref.format};
}

}  // namespace

View::View(const Ref& ref) : m_ref(placeOf(ref)) {
  for (std::size_t i = 0; i < ref.dims.size(); ++i) {
    const Piece piece{ref.dims[i], ref.strides[i]};
    add(piece.extent, std::span(&piece, piece.extent == 1 ? 0 : 1));
  }
}

View::View(const Ref& operand, const Dims& dims) : m_ref(placeOf(operand)) {
  setRowMajor(dims);
}

void View::add(std::int64_t extent, std::span<const Piece> pieces) {
  const std::size_t begin = m_pieces.size();
  m_pieces.append(pieces.data(), pieces.size());
  m_axes.push_back({extent, begin, m_pieces.size()});
}

void View::add(const Axis& from, const Pieces& pieces) {
  add(from.extent, {pieces.data() + from.begin, from.end - from.begin});
}

void View::setRowMajor(std::span<const std::int64_t> dims) {
  m_axes.clear();
  m_pieces.clear();
  SmallDims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Piece piece{dims[i], strides[i]};
    add(dims[i], std::span(&piece, dims[i] == 1 ? 0 : 1));
  }
}

SmallDims View::dims() const {
  SmallDims dims;
  for (const Axis& axis : m_axes) dims.push_back(axis.extent);
  return dims;
}

std::int64_t View::count() const {
  std::int64_t count = 1;
  for (const Axis& axis : m_axes) count *= axis.extent;
  return count;
}

Ref View::split() const {
  Ref ref = m_ref;
  for (const Piece& piece : m_pieces) {
    ref.dims.push_back(piece.extent);
    ref.strides.push_back(piece.stride);
  }
  return ref;
}

std::optional<Ref> View::ref() const {
  Ref ref = m_ref;
  ref.dims.reserve(m_axes.size());
  for (const Axis& axis : m_axes) ref.dims.push_back(axis.extent);
  ref.strides.resize(m_axes.size());
  std::int64_t dense = 1;  // the row-major stride, for an axis that needs none
  for (std::size_t i = m_axes.size(); i-- > 0;) {
    const Axis& axis = m_axes[i];
    if (axis.end - axis.begin > 1) return std::nullopt;
    ref.strides[i] = axis.begin == axis.end ? dense : m_pieces[axis.begin].stride;
    dense = ref.strides[i] * axis.extent;
  }
  return ref;
}

SmallDims View::inMemory(std::size_t begin, std::size_t end) const {
  SmallDims extents;
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t k = m_axes[i].begin; k < m_axes[i].end; ++k) extents.push_back(m_pieces[k].extent);
  return extents;
}

// Adjacent pieces that are contiguous are merged. Then each new axis takes what it needs from the innermost piece:
// whole pieces, and parts that divide them. If extents do not divide each other, the reshape is impossible.
bool View::reshape(const SmallDims& dims) {
  if (std::ranges::find(dims, 0) != dims.end()) {
    setRowMajor(dims);
    return true;
  }
  Pieces left;
  for (const Piece& piece : m_pieces) {
    if (!left.empty() && left.back().stride == piece.stride * piece.extent) {
      left.back() = {left.back().extent * piece.extent, piece.stride};
    } else {
      left.push_back(piece);
    }
  }
  Pieces taken;  // innermost first
  SmallVector<std::size_t, 8> counts(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    for (std::int64_t needed = dims[i]; needed > 1; ++counts[i]) {
      if (left.empty()) return false;
      Piece& inner = left.back();
      if (needed % inner.extent == 0) {
        taken.push_back(inner);
        needed /= inner.extent;
        left.pop_back();
      } else if (inner.extent % needed == 0) {
        taken.push_back({needed, inner.stride});
        inner = {inner.extent / needed, inner.stride * needed};
        needed = 1;
      } else {
        return false;
      }
    }
  }
  if (!left.empty()) return false;
  m_axes.clear();
  std::ranges::reverse(taken);
  m_pieces = taken;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    m_axes.push_back({dims[i], begin, begin + counts[i]});
    begin += counts[i];
  }
  return true;
}

bool View::transpose(const std::vector<std::int64_t>& order) {
  const Axes axes = m_axes;
  const Pieces pieces = m_pieces;
  m_axes.clear();
  m_pieces.clear();
  for (const std::int64_t from : order) add(axes[static_cast<std::size_t>(from)], pieces);
  return true;
}

bool View::broadcast(const SmallDims& dims) {
  const Axes axes = m_axes;
  const Pieces pieces = m_pieces;
  if (dims.size() < axes.size()) return false;
  const std::size_t lead = dims.size() - axes.size();
  m_axes.clear();
  m_pieces.clear();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Axis axis = i < lead ? Axis{} : axes[i - lead];
    const Piece repeated{dims[i], 0};
    if (axis.extent == dims[i]) {
      add(axis, pieces);
    } else if (axis.extent == 1) {
      add(dims[i], std::span(&repeated, 1));
    } else {
      return false;
    }
  }
  return true;
}

bool View::slice(const SliceRanges& ranges, const SmallDims& dims) {
  if (std::ranges::find(dims, 0) != dims.end()) {
    setRowMajor(dims);
    return true;
  }
  const Axes axes = m_axes;
  const Pieces pieces = m_pieces;
  m_axes.clear();
  m_pieces.clear();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (ranges[i].start == 0 && ranges[i].step == 1 && dims[i] == axis.extent) {
      add(axis, pieces);
      continue;
    }
    if (axis.end - axis.begin > 1) return false;
    const std::int64_t stride = axis.end == axis.begin ? 0 : pieces[axis.begin].stride;
    const Piece part{dims[i], stride * ranges[i].step};
    m_ref.offset += ranges[i].start * stride;
    add(dims[i], std::span(&part, dims[i] == 1 ? 0 : 1));
  }
  return true;
}

std::optional<View> ViewOrigin::at(const RegionExtents& extents) const {
  View view(operand, whole.in(extents));
  for (const Look& look : looks)
    if (!look(view, extents)) return std::nullopt;
  return view;
}

}  // namespace fusescope::native
