#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/native/region_program.h"
#include "base/small_vector.h"

namespace fusescope::native {

/// The start and step of a Slice along one axis; its extent is stored elsewhere.
struct SliceRange {
  std::int64_t start = 0, step = 1;
};
using SliceRanges = SmallVector<SliceRange, 8>;

/// A plain tensor that is read without a copy. One of its axes may consist of several axes in memory without a common
/// stride: for example 8 heads that are 2 heads, each repeated 4 times (a stride of 0 repeats), as grouped attention
/// reads keys and values.
class View {
 public:
  explicit View(const Ref& ref);
  /// Makes a view of all of `operand`, row-major, with the extents `dims`.
  View(const Ref& operand, const Dims& dims);

  DataType type() const { return m_ref.dtype; }
  SmallDims dims() const;
  std::int64_t count() const;
  /// Returns the tensor as one Ref; nothing if an axis consists of several axes in memory.
  std::optional<Ref> ref() const;
  /// Returns the same elements in the same order, with the axes that they have in memory.
  Ref split() const;
  /// Returns the extents that axes [begin, end) have in memory, without extents of 1.
  SmallDims inMemory(std::size_t begin, std::size_t end) const;

  // These change the view to other axes of the same bytes. They return false if elements would have to be moved; the
  // view must not be used after that.
  bool reshape(const SmallDims& dims);
  bool transpose(const std::vector<std::int64_t>& order);
  bool broadcast(const SmallDims& dims);
  bool slice(const SliceRanges& ranges, const SmallDims& dims);

 private:
  /// An axis in memory, whose extent is never 1.
  struct Piece {
    std::int64_t extent = 1, stride = 0;
  };
  struct Axis {
    std::int64_t extent = 1;
    std::size_t begin = 0, end = 0;  ///< the range of its pieces in m_pieces, outermost first
  };
  using Axes = SmallVector<Axis, 8>;
  using Pieces = SmallVector<Piece, 8>;
  void setRowMajor(std::span<const std::int64_t> dims);
  void add(std::int64_t extent, std::span<const Piece> pieces);
  /// Adds the axis `from` of the previous view, whose pieces are `pieces`.
  void add(const Axis& from, const Pieces& pieces);

  Ref m_ref;  ///< without extents and strides
  Axes m_axes;
  Pieces m_pieces;  ///< the pieces of all axes
};

/// How a view is derived from an operand of the region, so that it can be computed for other extents.
struct ViewOrigin {
  /// Returns false if the view is not possible at these extents.
  using Look = std::function<bool(View&, const RegionExtents&)>;
  Ref operand;  ///< without extents and strides
  ExtentSource whole;
  std::vector<Look> looks;

  std::optional<View> at(const RegionExtents& extents) const;
};

}  // namespace fusescope::native
