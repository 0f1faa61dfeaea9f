#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/stop.h"
#include "planning/plan.h"
#include "verify/code_meaning.h"

namespace fusescope {

class Graph;

/// Returns the network of `lowered` without quantisation: without the codes that its options ask for, and without the
/// author's codes on activations. Q and DQ with one constant scale are passed through, so that edges of codes contain
/// the numbers themselves; weights that the file stores as codes keep the numbers that these represent. Ids of nodes
/// and values are those of `lowered`. Smoothing of channels is kept.
Result<std::shared_ptr<const Model>> exactNetworkOf(const Plan& lowered, const StopToken& stop = {});

/// Finds the values of a network with codes in the exact network. Ids of nodes and values that both have are the same.
class ExactCounterparts {
 public:
  /// `lowered` must outlive this object.
  ExactCounterparts(const Graph& lowered, std::shared_ptr<const Model> exact);
  /// Returns the value of the exact network that corresponds to `value`, or nothing if there is none.
  std::optional<ValueId> of(ValueId value) const;
  /// Returns how the quantised codes of `value` represent numbers; nothing if `value` has no codes, or codes of a
  /// number that the exact network does not have.
  const CodeMeaning* meaning(ValueId value) const;
  const Model& exact() const { return *m_exact; }

 private:
  std::optional<ValueId> find(ValueId value) const;

  const Graph& m_lowered;
  std::shared_ptr<const Model> m_exact;
  std::map<ValueId, ValueId> m_counterparts;
  std::map<ValueId, CodeMeaning> m_meanings;
};

}  // namespace fusescope
