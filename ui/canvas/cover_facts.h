#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/cost.h"
#include "planning/cover.h"
#include "ui/canvas/item_facts.h"

namespace fusescope {

struct Plan;

/// Finds the facts of the boxes of one cover, which must outlive it. Made and asked on any one thread.
class CoverFacts {
 public:
  explicit CoverFacts(const Cover& cover);
  ItemFacts of(const FusedNode& fused) const;
  /// Of a node that is drawn by itself; `fused`: the kernel that holds it, or null.
  ItemFacts of(const Node& node, const FusedNode* fused) const;
  /// What the main operator of a kernel calculates in. Of a quantiser or dequantiser the type of its codes.
  DataType typeOf(const FusedNode& fused) const;
  /// The same of a node that is drawn by itself; `stored`: the type of its result where it calculates in none.
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
  std::shared_ptr<const UsualExtents> m_usual;  ///< null: extents are not known
  std::vector<Said> m_said;                     ///< by NodeId
};

/// Adds those of one kernel more to those of a block; the block's types are the caller's.
void addFacts(ItemFacts& block, const ItemFacts& kernel);

/// Whether `node` turns numbers into codes or codes into numbers.
bool convertsCodes(const Node& node);

}  // namespace fusescope
