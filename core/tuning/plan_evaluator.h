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
  std::string backend;  ///< the backend that runs accelerated segments
  int threads = 0;
  std::vector<std::string> sampleNames{};  ///< names of the samples in errors; empty: their numbers are used
  std::string output{};                    ///< the output that counts; empty: the worst of all outputs
  std::string metric{};  ///< a command that computes the error, in place of max|Δ| over rms; see outsideMetric()
  std::size_t keptBytes = std::size_t{3} << 30;  ///< limit of activations that are stored between evaluations
  /// Returns the outputs of a network that another compiler compiles by a plan, as PlanRunner::run() does. If it is
  /// empty, our own backend runs the network.
  std::function<Result<std::vector<std::vector<Tensor>>>(const std::shared_ptr<const Plan>&)> outputsOf{};
  std::function<void(const PinSet& pins)> onTry{};  ///< called before a set is run; may be empty
  StopToken stop{};
};

/// Computes errors and costs of a network under pins, for whole plans and on the user's samples. Errors are relative to
/// the same network in float32. Parts that a pin does not affect are not run again.
class PlanEvaluator final : public TuneOracle {
 public:
  /// `lowered` is the plan without pins of the search; its own directives apply in every plan. `prices` may be null,
  /// and must outlive this object. It runs the network in float32 once. It is an error if that fails, if the output
  /// does not exist, or if outputs contain no numbers or no finite ones.
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
  void stopAfter(double seconds) override;
  void expectSetsNear(const PinSet& pins) override;

  const Plan& lowered() const { return *m_lowered; }
  Directive pinOf(std::uint32_t node) const;
  /// Returns the options of the lowered plan with these pins added after its directives.
  PlanOptions optionsWith(const PinSet& pins) const;
  /// Returns the hash of the network's outputs in float32.
  Hash128 expectedHash() const;
  const PlanRunner& runner() const { return *m_runner; }
  const std::vector<PlanRunner::Inputs>& samples() const { return m_samples; }
  /// Returns a token that the user or stopAfter() stops.
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
  std::unique_ptr<PlanRunner> m_runner, m_reference;  ///< m_reference is made at its first use
  std::vector<std::size_t> m_outputs;                 ///< indices of the graph's outputs that count
  Outputs m_expected, m_expectedOnReference;
  PinSet m_draftOf;
  std::shared_ptr<const Plan> m_draft;  ///< the last draft
};

/// Returns the cost of `plan` according to its prices.
PlanCost costOf(const Plan& plan);

}  // namespace fusescope
