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

/// What the numbers of an exported network are on the reference, with each value between two nodes stored.
struct NumbersCheck {
  OutputsApart fromFloat32, fromPlan;
  std::optional<std::string> firstWrong;    ///< the first value beyond the tolerance from the plan, in the plan's order
  double firstWrongBy = 0;                  ///< its max|Δ| over rms
  std::set<std::uint32_t> wrongFusedNodes;  ///< that leave a value beyond it and read none
  std::set<std::uint32_t> allWrong;         ///< that leave a value beyond it
  bool ok() const { return fromFloat32.ok && fromPlan.ok; }
};

/// Holds what is exported of one plan against the network in float32, on the reference and on our engine, and against
/// the plan, on the reference; on every sample. What float32 and the plan give is calculated once.
class NumbersChecker {
 public:
  /// `wished`: the plan that is judged; `written`: the same one, or that of its network with the codes written into it,
  /// by whose fused nodes what goes wrong is told. `options` must outlive it. Errors: those of building and running.
  static Result<std::unique_ptr<NumbersChecker>> create(const Plan& wished, std::shared_ptr<const Plan> written,
                                                        const ExportOptions& options);
  /// How far the plan itself is from float32, on the reference.
  const OutputsApart& planFromFloat32() const { return m_planFromFloat32; }
  /// The exported network on the reference; `reading` is our plan of it.
  Result<NumbersCheck> onReference(const TypedNetwork& network, const Plan& reading);
  /// How far the exported network is from float32 as our engine runs it.
  Result<OutputsApart> onEngine(const Plan& reading);

 private:
  using Outputs = std::map<std::string, Tensor>;
  explicit NumbersChecker(const ExportOptions& options) : m_options(options) {}
  BuildOptions buildOptions(const std::string& backend) const;
  Result<std::vector<Outputs>> outputsOf(Engine& engine) const;
  OutputsApart apart(const std::vector<Outputs>& actual, const std::vector<Outputs>& expected) const;
  Status compareValues(const TypedNetwork& network, Engine& exported, NumbersCheck& check);

  const ExportOptions& m_options;
  std::unique_ptr<Engine> m_planned;  ///< on the reference
  std::shared_ptr<const Plan> m_exact;
  std::vector<Outputs> m_plannedOutputs, m_exactOnReference, m_exactOnEngine;  ///< by sample
  OutputsApart m_planFromFloat32;
};

}  // namespace fusescope
