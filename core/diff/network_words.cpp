#include "diff/network_words.h"

#include <algorithm>

#include "base/text.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostNamed = 3;  ///< the number of differing nodes that are named in a cause

}  // namespace

std::string someNames(std::vector<std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return joined(names) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

std::string networkText(const PlanLevel& level, const FileMatch& files, const std::vector<char>& isChanged,
                        std::span<const std::uint32_t> things) {
  std::vector<std::string> onlyA, onlyB, changed;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const auto look = [&](bool ofA, NodeId node) {
    const std::string& name = (ofA ? level.a : level.b)->graph().node(node).name;
    const bool alone = files.hasNoCounterpart(ofA ? level.nodeNumberOfA(node) : level.nodeNumberOfB(node));
    if (alone) add(ofA ? onlyA : onlyB, name);
    if (!alone && ofA && node.index < isChanged.size() && isChanged[node.index] != 0) add(changed, name);
  };
  const auto lookAround = [&](bool ofA, NodeId node) {
    const Graph& graph = (ofA ? level.a : level.b)->graph();
    look(ofA, node);
    for (const ValueId value : graph.node(node).inputs)
      if (value.valid() && graph.value(value).producer.valid()) look(ofA, graph.value(value).producer);
    for (const ValueId value : graph.node(node).outputs)
      if (value.valid())
        for (const NodeId reader : graph.value(value).consumers) look(ofA, reader);
  };
  for (const std::uint32_t thing : things) {
    if (level.a != nullptr && level.inA(thing)) lookAround(true, NodeId(thing));
    if (level.b == nullptr) continue;
    const NodeId ofB = level.inA(thing) ? level.match.nodeOfB[thing] : NodeId(thing - level.match.nodeOfB.size());
    if (ofB.valid()) lookAround(false, ofB);
  }
  std::vector<std::string> parts;
  const auto say = [&](std::vector<std::string> names, const std::string& what) {
    if (names.empty()) return;
    parts.push_back(someNames(std::move(names), kMostNamed) + what);
  };
  say(std::move(onlyA), " only in A");
  say(std::move(onlyB), " only in B");
  say(std::move(changed), " changed");
  if (things.empty()) return "the networks";
  return "the networks" + (parts.empty() ? std::string(", which differ elsewhere") : ": " + joined(parts, "; "));
}

}  // namespace fusescope
