#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/cost.h"
#include "base/ids.h"
#include "ir/tensor.h"
#include "planning/cover.h"
#include "ui/canvas/item_facts.h"

namespace fusescope {

struct Node;
struct Plan;

/// Computes the facts of the boxes of one cover, which must outlive it. It may be used on any one thread.
class CoverFacts {
 public:
  explicit CoverFacts(const Cover& cover);
  ItemFacts of(const FusedNode& fused) const;
  /// Returns the facts of a node that is drawn separately; `fused` is its kernel, or null.
  ItemFacts of(const Node& node, const FusedNode* fused) const;
  /// Returns the type in which the main operator of a kernel calculates; for a quantiser or dequantiser the type of its
  /// codes.
  DataType typeOf(const FusedNode& fused) const;
  /// Returns the same for a node that is drawn separately; `stored` is the type of its result if it does not calculate.
  DataType typeOf(const Node& node, const FusedNode* fused, DataType stored) const;

 private:
  void takeAnswers(const Plan& plan);
  DataType calculates(NodeId node) const;
  std::optional<std::int64_t> resultsOf(const FusedNode& fused) const;
  void add(ItemFacts& facts, NodeId node, bool fallback) const;

  struct Said {
    Decided decided = Decided::Default;
    bool pinned = false, refused = false, ignored = false;
  };
  const Cover& m_cover;
  std::shared_ptr<const ChosenExtents> m_usual;  ///< null if the extents are not known
  std::vector<Said> m_said;                      ///< by NodeId
};

/// Adds the facts of one kernel to those of a block; the caller sets the block's types.
void addFacts(ItemFacts& block, const ItemFacts& kernel);

/// Returns whether `node` converts numbers to codes or codes to numbers.
bool convertsCodes(const Node& node);

}  // namespace fusescope
