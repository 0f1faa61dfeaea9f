#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/fusion/region_builder.h"

namespace fusescope {

/// The arithmetic of a norm over the last axes: (x - mean) / sqrt(mean of squares + epsilon). An RMS norm has no mean.
/// Weight and bias are included only if they are applied before x is.
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

/// Finds a norm from its mean of squares, modulo float Casts:
///   square(d) ─ ReduceMean ─ Add eps ─┬─ Sqrt ─ [Reciprocal | 1 / ·] ─┐
///                                     └─ Pow -0.5 ─────────────────── ┤
///   d ───────────────────────────────────────────────────── Div | Mul ┘
/// with d = x, or d = x - ReduceMean(x), which may be calculated twice; then the variance may also come from x itself,
/// as ReduceMean(square(x)) - square(ReduceMean(x)), at least 0. The means may be GlobalAveragePools. One over the
/// root, r, may meet a weight first:
///   d · (r · w)
///   x · (r · w) + (b - mean · (r · w)), or with b + -mean · (r · w)
class NormMatcher {
 public:
  explicit NormMatcher(const Graph& graph) : m_graph(graph) {}
  /// `obstacle` says in words why a mean of squares belongs to no norm; it stays empty where `mean` is no such mean.
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

/// Weight and bias behind a norm, as far as they go along and are not bound yet: Mul, then Add, by constants that run
/// along the axes that `fits` says. Adds what it took to the kernel of `root` and binds scale, bias and result.
void takeAffine(RegionBuilder& state, NodeId root, std::string_view kind, ValueId result, bool withBias,
                bool (*fits)(const Graph&, ValueId constant, ValueId value, std::size_t axes), std::size_t axes);

}  // namespace fusescope
