#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/extent_conditions.h"
#include "ops/op_schema.h"

namespace fusescope {

/// Collects, during type inference, what is known about open extents and what must be assumed about them. When two
/// different extents must be equal, they become one extent; if nothing else justifies this, the equality is a condition
/// under which the network works. When two extents are broadcast, they are assumed to be equal under a condition, if
/// the caller wants that.
class OpenExtents {
 public:
  /// `conditions` hold from the start. `assume`: add others.
  OpenExtents(const std::vector<ExtentCondition>& conditions, bool assume);

  /// Its symbols may stand in conditions: they are known once the graph gets its inputs.
  void addInput(const TensorType& type);
  /// `computed` in terms of what is known; it is the extent of an output of `node`.
  Dim settled(const Dim& computed, const std::string& node);
  /// What `node` needs, where it is not proved and all extents are those of inputs: known from then on, and a
  /// condition.
  void demand(const ExtentDemand& demanded, const std::string& node);
  /// An extent of which nothing is known but that it is that of axis `axis` of the value `name`.
  Dim ownSymbol(const std::string& name, std::size_t axis) const;

  /// Whether anything was learned since the last call: what was settled before may be simpler now.
  bool takeLearned();
  /// Learn no more.
  void freeze() { m_frozen = true; }
  const std::vector<ExtentCondition>& conditions() const { return m_conditions; }

 private:
  void learn(const ExtentExpression& expression, const std::string& node);
  void makeEqual(const ExtentExpression& a, const ExtentExpression& b, const std::string& node, bool demanded);
  void demandOrder(ExtentExpression left, ExtentExpression right, const std::string& node);
  void add(ExtentCondition condition, const std::string& node, bool demanded);
  bool isOfInputs(const ExtentExpression& expression) const;
  bool isRecorded(const std::string& left, const std::string& right) const;

  ExtentFacts m_facts;
  std::vector<ExtentCondition> m_conditions;
  std::map<std::string, std::size_t> m_ranks;           ///< of the inputs' symbols: their order
  mutable std::map<std::string, std::size_t> m_others;  ///< of other symbols
  std::map<std::string, Dim> m_settled;                 ///< by the text that was computed
  bool m_assume = false, m_frozen = false, m_learned = false;
};

}  // namespace fusescope
