#include <algorithm>
#include <string>
#include <utility>

#include "diff/diff_parts.h"
#include "ir/graph.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns the fate of a node. In a Plan, every node is run by a kernel, except for views that are alone.
Fate fateIn(const Cover& cover, NodeId node) {
  if (const ReadBackPlan* readBack = asReadBack(cover)) return readBack->fateOf(node);
  const FusedNode& fused = *cover.fusedNodeOf(node);
  if (cover.inFallback(fused)) return Fate::Fallback;
  return fused.kind == kinds::kView ? Fate::View : Fate::Kernel;
}

/// Returns "kernel", "not disclosed" and so on.
std::string fateWords(Fate fate) {
  std::string text(name(fate));
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace

void addFateChanges(const PlanLevel& level, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr || level.isPlanned()) return;
  for (const NodeId node : level.a->graph().order()) {
    const NodeId other = level.match.nodeOfB[node.index];
    if (!other.valid()) continue;
    const Fate a = fateIn(*level.a, node), b = fateIn(*level.b, other);
    if (a == b) continue;
    diff.fates.push_back({.node = level.nameOf(level.nodeNumberOfA(node)),
                          .a = fateWords(a),
                          .b = fateWords(b),
                          .place = placeInA(level, node)});
  }
}

}  // namespace fusescope
