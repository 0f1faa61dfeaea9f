#include "session/same_structure.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/structural_key.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Finds out which value of one graph is which of another.
class SameStructure {
 public:
  SameStructure(const Graph& former, const Graph& given) : m_former(former), m_given(given) {}

  bool compare() {
    return areAlikeBorders(m_former.inputs(), m_given.inputs()) && areAlikeNodes() &&
           areAlikeBorders(m_former.outputs(), m_given.outputs());
  }
  /// Calls `take` for each constant of the former graph, with that of the given one.
  template <class Take>
  void forEachConstant(const Take& take) const {
    for (const auto& [former, given] : m_givenOf)
      if (m_given.value(given).constant != nullptr) take(former, *m_given.value(given).constant);
  }
  std::int64_t otherNames() const { return m_otherNames; }

 private:
  bool areAlikeBorders(const std::vector<ValueId>& former, const std::vector<ValueId>& given) {
    return std::ranges::equal(former, given, [&](ValueId a, ValueId b) {
      return m_former.value(a).name == m_given.value(b).name && areAlike(a, b);
    });
  }

  bool areAlikeNodes() {
    const auto areSame = [&](const std::vector<ValueId>& former, const std::vector<ValueId>& given) {
      return std::ranges::equal(former, given, [&](ValueId a, ValueId b) { return areAlike(a, b); });
    };
    return std::ranges::equal(m_former.order(), m_given.order(), [&](NodeId a, NodeId b) {
      const Node &former = m_former.node(a), &given = m_given.node(b);
      if (former.name != given.name) ++m_otherNames;
      return !hasBody(former) && former.origins == given.origins && operatorKey(former) == operatorKey(given) &&
             areSame(former.inputs, given.inputs) && areSame(former.outputs, given.outputs);
    });
  }

  bool areAlike(ValueId a, ValueId b) {
    if (!a.valid() || !b.valid()) return a.valid() == b.valid();
    const auto [known, isNew] = m_givenOf.emplace(a, b);
    const auto [back, isNewBack] = m_formerOf.emplace(b, a);
    if (!isNew || !isNewBack) return known->second == b && back->second == a;
    const Value &former = m_former.value(a), &given = m_given.value(b);
    return former.type == given.type && (former.constant == nullptr) == (given.constant == nullptr);
  }

  struct Index {
    std::size_t operator()(ValueId id) const { return id.index; }
  };
  using Values = std::unordered_map<ValueId, ValueId, Index>;

  const Graph& m_former;
  const Graph& m_given;
  Values m_givenOf, m_formerOf;
  std::int64_t m_otherNames = 0;
};

}  // namespace

RenamedNetwork withNamesOf(const Model& former, const Model& given) {
  SameStructure same(*former.graph, *given.graph);
  const auto isSameOrigin = [](const Origin& a, const Origin& b) { return a.op == b.op && a.domain == b.domain; };
  if (!same.compare() || !std::ranges::equal(former.origins, given.origins, isSameOrigin)) return {};
  GraphEditor editor(*former.graph);
  same.forEachConstant([&](ValueId value, const Tensor& constant) { editor.makeConstant(value, constant); });
  auto graph = std::move(editor).publish();
  if (!graph.ok()) return {};
  auto renamed = std::make_shared<Model>(given);
  renamed->graph = std::move(graph).value();
  renamed->origins = former.origins;
  renamed->contentHash = former.contentHash;
  return {.model = std::move(renamed), .nodes = same.otherNames()};
}

}  // namespace fusescope
