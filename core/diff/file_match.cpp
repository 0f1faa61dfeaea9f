#include "diff/file_match.h"

#include <algorithm>
#include <cstring>

namespace fusescope {

namespace {

/// Whether both have data, and these are not the same. Without data nothing is known.
bool elementsDiffer(const Tensor* a, const Tensor* b) {
  if (a == nullptr || b == nullptr || a == b || a->type() != b->type() || a->dims() != b->dims()) return false;
  if (a->type() == DataType::String) return !std::ranges::equal(a->strings(), b->strings());
  if (a->bytes() == nullptr || b->bytes() == nullptr || a->bytes() == b->bytes()) return false;
  return std::memcmp(a->bytes(), b->bytes(), a->byteSize()) != 0;
}

bool readsOtherElements(const Graph& a, const Node& ofA, const Graph& b, const Node& ofB) {
  for (std::size_t i = 0; i < std::min(ofA.inputs.size(), ofB.inputs.size()); ++i)
    if (elementsDiffer(a.constantData(ofA.inputs[i]), b.constantData(ofB.inputs[i]))) return true;
  return false;
}

}  // namespace

const Model& beforeCodes(const Model& model) {
  return model.unquantized != nullptr ? *model.unquantized : model;
}

FileMatch::FileMatch(const PlanLevel& level) : m_level(level) {
  if (level.a == nullptr || level.b == nullptr) return;
  const Model& a = *level.a->model;
  const Model& b = *level.b->model;
  if (a.unquantized != nullptr || b.unquantized != nullptr) m_own = matchNetworks(beforeCodes(a), beforeCodes(b));
}

bool FileMatch::oneNetwork() const {
  return match().count(MatchedBy::Id) == std::ssize(beforeCodes(*m_level.a->model).graph->order());
}

bool FileMatch::inOneAlone(std::uint32_t thing) const {
  if (m_level.inBoth(thing)) return false;  // as codes of an author are, and those put in at the same place
  const bool ofA = m_level.inA(thing);
  const std::vector<NodeId>& counterparts = ofA ? match().nodeOfB : match().nodeOfA;
  const std::size_t node = ofA ? thing : thing - m_level.match.nodeOfB.size();
  return node < counterparts.size() && !counterparts[node].valid();
}

std::vector<NodeId> FileMatch::otherElements() const {
  std::vector<NodeId> nodes;
  if (m_level.a == nullptr || m_level.b == nullptr) return nodes;
  const Graph& a = *beforeCodes(*m_level.a->model).graph;
  const Graph& b = *beforeCodes(*m_level.b->model).graph;
  for (const NodeId id : a.order()) {
    const NodeId other = match().nodeOfB[id.index];
    if (other.valid() && readsOtherElements(a, a.node(id), b, b.node(other))) nodes.push_back(id);
  }
  return nodes;
}

std::vector<FileMatch> fileMatches(const std::vector<PlanLevel>& levels) {
  return {levels.begin(), levels.end()};
}

}  // namespace fusescope
