#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// The result of checking the numbers of an exported network on the reference, with each value between two nodes
/// stored.
struct NumbersCheck {
  OutputDifference fromFloat32, fromPlan;
  std::optional<std::string> firstWrong;    ///< the first value, in the plan's order, whose difference from the plan
                                            ///< exceeds the tolerance
  double firstWrongBy = 0;                  ///< its max|Δ| over rms
  std::set<std::uint32_t> wrongFusedNodes;  ///< fused nodes that make such a value and read none
  std::set<std::uint32_t> allWrong;         ///< all fused nodes that make such a value
  bool ok() const { return fromFloat32.ok && fromPlan.ok; }
};

/// Compares what is exported from one plan with the network in float32, on the reference and on our engine, and with
/// the plan, on the reference, for every sample. The results of float32 and of the plan are calculated once.
class NumbersChecker {
 public:
  /// `judged` is the plan that is checked. `written` is the same one, or that of its network with the codes written
  /// into it; wrong values are reported by its fused nodes. `options` must outlive it. Errors: those of building and
  /// running.
  static Result<std::unique_ptr<NumbersChecker>> create(const Plan& judged, std::shared_ptr<const Plan> written,
                                                        const ExportOptions& options);
  /// Returns the difference of the plan itself from float32, on the reference.
  const OutputDifference& planFromFloat32() const { return m_planFromFloat32; }
  /// Checks the exported network on the reference; `reading` is our plan of it.
  Result<NumbersCheck> onReference(const TypedNetwork& network, const Plan& reading);
  /// Returns the difference of the exported network from float32 on our engine.
  Result<OutputDifference> onEngine(const Plan& reading);

 private:
  using Outputs = std::map<std::string, Tensor>;
  explicit NumbersChecker(const ExportOptions& options) : m_options(options) {}
  BuildOptions buildOptions(const std::string& backend) const;
  Result<std::vector<Outputs>> outputsOf(Engine& engine) const;
  OutputDifference apart(const std::vector<Outputs>& actual, const std::vector<Outputs>& expected) const;
  Status compareValues(const TypedNetwork& network, Engine& exported, NumbersCheck& check);

  const ExportOptions& m_options;
  std::unique_ptr<Engine> m_planned;  ///< on the reference
  std::shared_ptr<const Plan> m_exact;
  std::vector<Outputs> m_plannedOutputs, m_exactOnReference, m_exactOnEngine;  ///< by sample
  OutputDifference m_planFromFloat32;
};

}  // namespace fusescope
