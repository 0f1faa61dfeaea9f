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
  /// `conditions` are assumed from the start. `assume` allows more conditions to be added.
  OpenExtents(const std::vector<ExtentCondition>& conditions, bool assume);

  /// Adds an input of the graph. Conditions may contain its symbols, because their values are known when the graph is
  /// run.
  void addInput(const TensorType& type);
  /// Returns `computed`, the extent of an output of `node`, simplified by everything that is known.
  Dim simplified(const Dim& computed, const std::string& node);
  /// Records a demand of `node`. If it is not proved and all of its extents are those of inputs, it becomes a
  /// condition, and is assumed from then on.
  void demand(const ExtentDemand& demanded, const std::string& node);
  /// Returns a new symbol for axis `axis` of the value `name`, about which nothing is known.
  Dim ownSymbol(const std::string& name, std::size_t axis) const;

  /// Returns whether anything was learned since the last call. If so, extents that simplified() returned before may now
  /// be simpler.
  bool hasLearnedSinceLastCall();
  /// Stops learning: from now on, no facts are added.
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
  std::map<std::string, std::size_t> m_ranks;           ///< the order of the inputs' symbols
  mutable std::map<std::string, std::size_t> m_others;  ///< the order of other symbols
  std::map<std::string, Dim> m_settled;                 ///< by the text of the computed extent
  bool m_assume = false, m_frozen = false, m_learned = false;
};

}  // namespace fusescope
