#include "diff/file_match.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "ir/graph.h"

namespace fusescope {

namespace {

bool sameElements(const Tensor& a, const Tensor& b) {
  if (a.type() == DataType::String) return std::ranges::equal(a.strings(), b.strings());
  return a.bytes() == b.bytes() || std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0;
}

bool comparable(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() && a.container() == Container::None &&
         b.container() == Container::None;
}

}  // namespace

FileMatch::FileMatch(const PlanLevel& level) : m_level(level) {
  if (level.a == nullptr || level.b == nullptr) return;
  const Model& a = *level.a->model;
  const Model& b = *level.b->model;
  if (a.unquantized != nullptr || b.unquantized != nullptr)
    m_own = matchNetworks(unquantizedModel(a), unquantizedModel(b));
  compareConstants();
}

bool FileMatch::oneNetwork() const {
  return match().count(MatchedBy::Id) == std::ssize(unquantizedModel(*m_level.a->model).graph->order());
}

bool FileMatch::hasNoCounterpart(std::uint32_t thing) const {
  // A node that both sides have does not count, for example codes of the author that the other side's options inserted
  // at the same place.
  if (m_level.inBoth(thing)) return false;
  const bool ofA = m_level.inA(thing);
  const std::vector<NodeId>& counterparts = ofA ? match().nodeOfB : match().nodeOfA;
  const std::size_t node = ofA ? thing : thing - m_level.match.nodeOfB.size();
  return node < counterparts.size() && !counterparts[node].valid();
}

void FileMatch::compareConstants() {
  const Graph& a = *unquantizedModel(*m_level.a->model).graph;
  const Graph& b = *unquantizedModel(*m_level.b->model).graph;
  constexpr std::size_t kEqual = SIZE_MAX;
  std::map<std::pair<ValueId, ValueId>, std::size_t> seen;  // kEqual, or the index in m_others
  for (const NodeId id : a.order()) {
    const NodeId other = match().nodeOfB[id.index];
    if (!other.valid()) continue;
    const auto& ofA = a.node(id).inputs;
    const auto& ofB = b.node(other).inputs;
    for (std::size_t i = 0; i < std::min(ofA.size(), ofB.size()); ++i) {
      if (!ofA[i].valid() || !ofB[i].valid() || !a.isConstant(ofA[i]) || !b.isConstant(ofB[i])) continue;
      const Tensor& one = *a.value(ofA[i]).constant;
      const Tensor& another = *b.value(ofB[i]).constant;
      if (&one == &another || !comparable(one, another)) continue;
      const auto [entry, isNew] = seen.try_emplace({ofA[i], ofB[i]}, kEqual);
      if (isNew && (!one.hasData() || !another.hasData())) {
        // If one network was opened twice without its weights, the weights do not count as different.
        const bool isOne = match().how[id.index] == MatchedBy::Id && !one.hasData() && !another.hasData();
        m_notCompared += isOne ? 0 : 1;
      } else if (isNew && !sameElements(one, another)) {
        entry->second = m_others.size();
        m_others.push_back({.a = ofA[i], .b = ofB[i], .readers = {}});
      }
      if (entry->second == kEqual) continue;
      std::vector<NodeId>& readers = m_others[entry->second].readers;
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
}

std::vector<FileMatch> fileMatches(const std::vector<PlanLevel>& levels) {
  return {levels.begin(), levels.end()};
}

}  // namespace fusescope
