#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/stop.h"
#include "planning/plan.h"
#include "verify/code_meaning.h"

namespace fusescope {

/// The network of `lowered` before anything was quantised: without the codes that its options ask for, and without
/// those of the network's author on activations. Q and DQ with one constant scale are passed through, so that what was
/// an edge of codes holds the number itself; weights that the file has as codes stay what these stand for. Ids of nodes
/// and values are those of `lowered`. Where channels were made alike (smoothing), they are here too.
Result<std::shared_ptr<const Model>> exactNetworkOf(const Plan& lowered, const StopToken& stop = {});

/// Where the values of a network with codes are in the exact one. Ids of nodes and values that both have are the same.
class ExactCounterparts {
 public:
  /// `lowered` must outlive it.
  ExactCounterparts(const Graph& lowered, std::shared_ptr<const Model> exact);
  /// The value of the exact network that `value` stands for; nothing where there is none.
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
