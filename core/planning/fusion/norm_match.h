#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/fusion/region_builder.h"

namespace fusescope {

class Graph;
struct Node;

/// The arithmetic of a norm over the last axes: (x - mean) / sqrt(mean of squares + epsilon). An RMS norm has no mean.
/// Weight and bias are included only if 1 / deviation is multiplied by the weight before it is multiplied by x.
struct NormCore {
  std::vector<NodeId> nodes;  ///< includes the float Casts between them, and those of x that no other node reads
  NodeId root;                ///< the mean of squares
  ValueId input;              ///< x
  ValueId epsilon;
  ValueId result;
  Binding scale = {}, bias = {};  ///< of x · (r · w) and x · (r · w) + (b - mean · (r · w)); any constants
  std::size_t axes = 0;           ///< the number of last axes that it normalises
  bool centred = false;           ///< the mean is subtracted
};

/// Finds a norm that begins with a given mean of squares. Float Casts are ignored. The pattern is
///   square(d) ─ ReduceMean ─ Add eps ─┬─ Sqrt ─ [Reciprocal | 1 / ·] ─┐
///                                     └─ Pow -0.5 ─────────────────── ┤
///   d ───────────────────────────────────────────────────── Div | Mul ┘
/// with d = x, or with d = x - ReduceMean(x), which may be calculated twice. In the second case the variance may also
/// be calculated from x, as ReduceMean(square(x)) - square(ReduceMean(x)), with 0 as its lower limit.
/// GlobalAveragePools may replace the means. The reciprocal of the root, r, may be multiplied with a weight first:
///   d · (r · w)
///   x · (r · w) + (b - mean · (r · w)), or x · (r · w) + (b + -mean · (r · w))
class NormMatcher {
 public:
  explicit NormMatcher(const Graph& graph) : m_graph(graph) {}
  /// Returns the norm whose mean of squares is `mean`, or nothing. If `mean` is a mean of squares that belongs to no
  /// norm, `obstacle` gets the reason for people; otherwise it stays empty.
  std::optional<NormCore> match(const Node& mean, std::string& obstacle) const;

 private:
  std::optional<ValueId> squared(ValueId square, NormCore& core) const;
  const Node* meanOffSquares(const Node& mean, ValueId x, NormCore& core) const;
  std::optional<ValueId> centred(ValueId x) const;
  bool takeCentring(ValueId d, NormCore& core) const;
  const Node* differenceTo(ValueId value, const NormCore& core) const;
  const Node* reciprocal(const Node& mean, NormCore& core, bool& inverse, std::string& obstacle) const;
  bool takeScaling(const Node& deviation, bool inverse, ValueId d, NormCore& core, std::string& obstacle) const;
  const Node* negationOf(ValueId value) const;
  const Node* weightOf(ValueId inverse, NormCore& core) const;
  bool takeSpreadOut(ValueId weighted, ValueId d, NormCore& core) const;
  void placeInput(ValueId x, NormCore& core) const;
  const Node* next(const Node& node, NormCore& core) const;

  const Graph& m_graph;
};

/// Adds the weight and bias after a norm to the kernel of `root`, and binds scale, bias and result: a Mul, then an Add,
/// with constants along the axes that `fits` accepts, as far as they can be in the kernel and are not bound yet.
void takeAffine(RegionBuilder& state, NodeId root, std::string_view kind, ValueId result, bool withBias,
                bool (*fits)(const Graph&, ValueId constant, ValueId value, std::size_t axes), std::size_t axes);

}  // namespace fusescope
