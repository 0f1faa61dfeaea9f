#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/native/program.h"
#include "base/small_vector.h"

namespace fusescope::native {

/// What a Slice takes along one axis; where it ends is in the extents.
struct SliceRange {
  std::int64_t start = 0, step = 1;
};
using SliceRanges = SmallVector<SliceRange, 8>;

/// A tensor that is read where it lies, in the plain format. One of its axes may be several in memory, which have no
/// one stride together: 8 heads that are 2, each 4 times (strides of 0 repeat), as grouped attention reads keys and
/// values.
class View {
 public:
  explicit View(const Ref& ref);
  /// All of `operand` at the extents `dims`, row-major.
  View(const Ref& operand, const Dims& dims);

  DataType type() const { return m_ref.dtype; }
  SmallDims dims() const;
  std::int64_t count() const;
  /// The tensor as one Ref; nothing if an axis is several in memory.
  std::optional<Ref> ref() const;
  /// The same elements in the same order, with axes as they are in memory.
  Ref split() const;
  /// The extents that axes [begin, end) have in memory, those of 1 left out.
  SmallDims inMemory(std::size_t begin, std::size_t end) const;

  // Other looks at the same bytes. False, and the view is of no more use, where elements would have to be moved.
  bool reshape(const SmallDims& dims);
  bool transpose(const std::vector<std::int64_t>& order);
  bool broadcast(const SmallDims& dims);
  bool slice(const SliceRanges& ranges, const SmallDims& dims);

 private:
  /// An axis in memory; no extent is 1.
  struct Piece {
    std::int64_t extent = 1, stride = 0;
  };
  struct Axis {
    std::int64_t extent = 1;
    std::size_t begin = 0, end = 0;  ///< in m_pieces, outermost first
  };
  using Axes = SmallVector<Axis, 8>;
  using Pieces = SmallVector<Piece, 8>;
  void setRowMajor(std::span<const std::int64_t> dims);
  void add(std::int64_t extent, std::span<const Piece> pieces);
  /// The axis `from` of what the view was.
  void add(const Axis& from, const Pieces& pieces);

  Ref m_ref;  ///< without extents and strides
  Axes m_axes;
  Pieces m_pieces;  ///< of all axes
};

/// How a view comes of an operand of the region, so that it can be worked out for other extents.
struct ViewOrigin {
  /// False: it cannot be said at these extents.
  using Look = std::function<bool(View&, const RegionExtents&)>;
  Ref operand;  ///< without extents and strides
  ExtentsOf whole;
  std::vector<Look> looks;

  std::optional<View> at(const RegionExtents& extents) const;
};

}  // namespace fusescope::native
