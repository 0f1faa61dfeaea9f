#include "backends/native/neighbours.h"

#include <algorithm>

namespace fusescope::native {

std::vector<NodeId> consumers(const RegionFacts& region, ValueId value) {
  std::vector<NodeId> inside;
  for (NodeId id : region.graph().value(value).consumers) {
    if (region.isMember(id)) inside.push_back(id);
  }
  return inside;
}

std::optional<NodeId> onlyConsumer(const RegionFacts& region, ValueId value) {
  if (!value.valid() || region.isFusedOutput(value)) return std::nullopt;
  const std::vector<NodeId> inside = consumers(region, value);
  return inside.size() == 1 ? std::optional(inside[0]) : std::nullopt;
}

std::optional<NodeId> producer(const RegionFacts& region, ValueId value) {
  if (!value.valid() || !region.graph().has(value)) return std::nullopt;
  const NodeId id = region.graph().value(value).producer;
  return id.valid() && region.isMember(id) ? std::optional(id) : std::nullopt;
}

std::set<NodeId> between(const RegionFacts& region, ValueId from, ValueId to) {
  std::set<NodeId> behind, before;
  for (const NodeId id : region.fused().nodes) {
    const bool follows = std::ranges::any_of(region.node(id).inputs, [&](ValueId input) {
      const auto made = producer(region, input);
      return input == from || (made && behind.contains(*made));
    });
    if (follows) behind.insert(id);
  }
  const auto last = producer(region, to);
  if (!last || !behind.contains(*last)) return {};
  before.insert(*last);
  for (auto id = region.fused().nodes.rbegin(); id != region.fused().nodes.rend(); ++id) {
    if (!before.contains(*id)) continue;
    for (const ValueId input : region.node(*id).inputs)
      if (const auto made = producer(region, input); made && behind.contains(*made)) before.insert(*made);
  }
  return before;
}

bool leavesOnly(const RegionFacts& region, const std::set<NodeId>& nodes, ValueId result) {
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return std::ranges::all_of(region.node(id).outputs, [&](ValueId value) {
      return !value.valid() || value == result ||
             (!region.isFusedOutput(value) &&
              std::ranges::all_of(consumers(region, value), [&](NodeId user) { return nodes.contains(user); }));
    });
  });
}

}  // namespace fusescope::native
