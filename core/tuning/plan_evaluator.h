#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuning/deadline.h"
#include "tuning/pinnable_nodes.h"
#include "tuning/plan_runner.h"

namespace fusescope {

struct EvaluatorOptions {
  std::string backend;  ///< that runs accelerated segments
  int threads = 0;
  std::vector<std::string> sampleNames{};  ///< what errors of running call each sample; none: its number
  std::string output{};                    ///< the one that counts; empty: the worst of all
  std::string metric{};                    ///< what tells the error in place of max|Δ| over rms; see outsideMetric()
  std::size_t keptBytes = std::size_t{3} << 30;  ///< of activations kept between evaluations
  /// What a network gives that another compiler compiles by a plan: as PlanRunner::run(). Empty: our own backend runs
  /// it.
  std::function<Result<std::vector<std::vector<Tensor>>>(const std::shared_ptr<const Plan>&)> outputsOf{};
  std::function<void(const PinSet& pins)> onTry{};  ///< called before a set is run; may be empty
  StopToken stop{};
};

/// Errors and costs of a network under pins: of whole plans, on the user's samples, against the same network in
/// float32. What a pin does not reach is not run again.
class PlanEvaluator final : public TuneOracle {
 public:
  /// `lowered`: the plan without pins of the search; its own directives hold in every plan. `prices` may be null and
  /// outlives this. Runs the network in float32 once. Errors: those of running it; an output that there is not; outputs
  /// that hold no numbers, or nothing finite.
  static Result<std::unique_ptr<PlanEvaluator>> create(std::shared_ptr<const Plan> lowered,
                                                       std::vector<PlanRunner::Inputs> samples,
                                                       const PriceModel* prices, const EvaluatorOptions& options);

  const Pinnable& pinnable() const { return m_pinnable; }
  std::uint32_t nodeCount() const override { return static_cast<std::uint32_t>(m_pinnable.nodes.size()); }
  const std::vector<PinSet>& groups() const override { return m_pinnable.groups; }
  const std::vector<std::vector<std::uint32_t>>& neighbours() const override { return m_pinnable.neighbours; }
  Result<PinnedPlan> plan(const PinSet& pins) override;
  Result<double> error(const PinSet& pins) override;
  bool hasReference() const override;
  Result<double> errorOnReference(const PinSet& pins) override;
  void endAfter(double seconds) override;
  void startFrom(const PinSet& pins) override;

  const Plan& lowered() const { return *m_lowered; }
  Directive pinOf(std::uint32_t node) const;
  /// Pins as directives, behind those of the lowered plan.
  PlanOptions optionsWith(const PinSet& pins) const;
  /// Of what the network gives in float32.
  Hash128 expectedHash() const;
  const PlanRunner& runner() const { return *m_runner; }
  const std::vector<PlanRunner::Inputs>& samples() const { return m_samples; }
  /// Of the user, or of endAfter().
  StopToken stop() const { return m_deadline.token(); }

 private:
  PlanEvaluator(std::shared_ptr<const Plan> lowered, const PriceModel* prices, const EvaluatorOptions& options)
      : m_lowered(std::move(lowered)), m_prices(prices), m_options(options), m_deadline(options.stop) {}
  Status findOutputs();
  Status checkExpected() const;
  Result<std::shared_ptr<const Plan>> draft(const PinSet& pins);
  using Outputs = std::vector<std::vector<Tensor>>;  ///< by output, then by sample
  Result<std::unique_ptr<PlanRunner>> runnerOn(const std::string& backend, std::size_t keptBytes) const;
  Result<double> errorOf(const Outputs& actual, const Outputs& expected) const;
  Result<double> byMetric(const Outputs& actual, const Outputs& expected) const;
  double largestError(const Outputs& actual, const Outputs& expected) const;

  std::shared_ptr<const Plan> m_lowered, m_exact;
  const PriceModel* m_prices;
  EvaluatorOptions m_options;
  Pinnable m_pinnable;
  Deadline m_deadline;
  std::vector<PlanRunner::Inputs> m_samples;
  std::unique_ptr<PlanRunner> m_runner, m_reference;  ///< the latter made when it is asked for first
  std::vector<std::size_t> m_outputs;                 ///< that count, as indices of the graph's
  Outputs m_expected, m_expectedOnReference;
  PinSet m_draftOf;
  std::shared_ptr<const Plan> m_draft;  ///< the last one
};

/// What `plan` costs by its prices.
PlanCost costOf(const Plan& plan);

}  // namespace fusescope
