#include "tuning/plan_evaluator.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/kernels/input_check.h"
#include "ir/graph.h"
#include "planning/draft_plan.h"
#include "planning/plan_totals.h"
#include "planning/types/without_lowered_types.h"
#include "tuning/outside_metric.h"
#include "verify/tensor_error.h"

namespace fusescope {
namespace {

/// Numbers for PlanRunner::prefer().
enum Preferred : std::size_t { kExact, kUnpinned, kCurrent };

constexpr const char* kReference = "reference";

}  // namespace

PlanCost costOf(const Plan& plan) {
  const PredictedTime time = predictedTime(plan);
  const PlanTotals totals = totalsWithoutBodies(plan);
  PlanCost cost{.unknown = time.unknown,
                .ms = plan.predictedMs.value_or(time.mostMs),
                .casts = totals.casts,
                .bytes = totals.bytes};
  if (time.unknown == 0) cost.how = time.fittedMs > 0 ? PriceSource::Fitted : PriceSource::Measured;
  return cost;
}

Result<std::unique_ptr<PlanEvaluator>> PlanEvaluator::create(std::shared_ptr<const Plan> lowered,
                                                             std::vector<PlanRunner::Inputs> samples,
                                                             const PriceModel* prices,
                                                             const EvaluatorOptions& options) {
  std::unique_ptr<PlanEvaluator> made(new PlanEvaluator(std::move(lowered), prices, options));
  const Plan& plan = *made->m_lowered;
  made->m_exact = TRY(draftPlan(plan.model, withoutLoweredTypes(plan.options), prices, options.stop, &plan));
  made->m_pinnable = TRY(pinnableNodes(plan, *made->m_exact));
  made->m_samples = std::move(samples);
  made->m_runner = TRY(made->runnerOn(options.backend, options.keptBytes));
  TRY(made->findOutputs());
  made->m_expected = TRY(made->m_runner->run(made->m_exact));
  made->m_runner->prefer(*made->m_exact, kExact);
  TRY(made->checkExpected());
  return made;
}

Result<std::unique_ptr<PlanRunner>> PlanEvaluator::runnerOn(const std::string& backend, std::size_t keptBytes) const {
  return PlanRunner::create(*m_lowered, m_samples, m_options.sampleNames,
                            {.backend = backend, .threads = m_options.threads, .stop = m_deadline.token()}, keptBytes);
}

void PlanEvaluator::stopAfter(double seconds) {
  m_deadline.stopAfter(seconds);
  for (PlanRunner* runner : {m_runner.get(), m_reference.get()})
    if (runner != nullptr) runner->setStop(m_deadline.token());
}

Status PlanEvaluator::checkExpected() const {
  const Graph& graph = m_lowered->graph();
  const std::vector<std::string> names = sampleNames(m_options.sampleNames, m_samples.size());
  for (const std::size_t output : m_outputs) {
    const auto bad = [&](std::string message, std::string help) {
      return Diagnostic{.message = std::move(message),
                        .where = {.file = m_lowered->model->path, .value = graph.value(graph.outputs()[output]).name},
                        .help = std::move(help)};
    };
    for (std::size_t s = 0; s < m_expected[output].size(); ++s) {
      const Tensor& tensor = m_expected[output][s];
      if (!TensorErrorSums::comparable(tensor, tensor))
        return bad("this output contains no numbers, so no error can be calculated for it",
                   "Give the output to judge by with --of.");
      TensorErrorSums sums;
      sums.add(tensor, tensor, tensor.type());
      if (sums.error().isMeaningful()) continue;
      const bool isCalled = s < m_options.sampleNames.size();
      const std::string inputs = inWords(notFiniteInputs(m_samples[s], isCalled ? m_options.sampleNames[s] : names[s]));
      const std::string what =
          "all of this output is infinite or NaN even in float32, so no error can be calculated for it";
      return onSample(
          bad(inputs.empty() ? what : what + ": " + inputs,
              inputs.empty() ? "fusescope errors shows where this begins. Or give the output to judge by with --of."
                             : "Leave the sample out, or give the output to judge by with --of."),
          names[s]);
    }
  }
  return Done{};
}

Status PlanEvaluator::findOutputs() {
  const Graph& graph = m_lowered->graph();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    names.push_back(graph.value(graph.outputs()[i]).name);
    if (m_options.output.empty() || m_options.output == names.back()) m_outputs.push_back(i);
  }
  if (!m_outputs.empty()) return Done{};
  return Diagnostic{.message = fmt::format("the network has no output \"{}\"", m_options.output),
                    .where = {.file = m_lowered->model->path, .attribute = "--of"},
                    .help = fmt::format("The outputs of the network are {}.", joined(names))};
}

Directive PlanEvaluator::pinOf(std::uint32_t node) const {
  const PinnableNode& of = m_pinnable.nodes[node];
  return {.kind = DirectiveKind::Pin, .pattern = of.pattern, .type = of.exact};
}

Hash128 PlanEvaluator::expectedHash() const {
  KeyBuilder key;
  for (const std::size_t output : m_outputs)
    for (const Tensor& tensor : m_expected[output]) key.bytes({tensor.bytes(), tensor.byteSize()});
  return key.hash();
}

PlanOptions PlanEvaluator::optionsWith(const PinSet& pins) const {
  PlanOptions options = m_lowered->options;
  for (const std::uint32_t pin : pins) options.directives.push_back(pinOf(pin));
  assignIds(options.directives);
  return options;
}

Result<std::shared_ptr<const Plan>> PlanEvaluator::draft(const PinSet& pins) {
  if (m_draft != nullptr && m_draftOf == pins) return m_draft;
  m_draft = TRY(draftPlan(m_lowered->model, optionsWith(pins), m_prices, m_deadline.token(), m_lowered.get()));
  m_draftOf = pins;
  return m_draft;
}

Result<PinnedPlan> PlanEvaluator::plan(const PinSet& pins) {
  const auto plan = TRY(draft(pins));
  return PinnedPlan{effectOf(*plan), costOf(*plan)};
}

Result<double> PlanEvaluator::error(const PinSet& pins) {
  if (m_options.onTry) m_options.onTry(pins);
  const auto plan = TRY(draft(pins));
  return errorOf(m_options.outputsOf ? TRY(m_options.outputsOf(plan)) : TRY(m_runner->run(plan)), m_expected);
}

bool PlanEvaluator::hasReference() const {
  return m_options.backend != kReference && !m_options.outputsOf;
}

Result<double> PlanEvaluator::errorOnReference(const PinSet& pins) {
  constexpr std::size_t kShare = 4;  // fraction of the memory, because few sets are run there
  const auto plan = TRY(draft(pins));
  if (m_reference == nullptr) m_reference = TRY(runnerOn(kReference, m_options.keptBytes / kShare));
  if (m_expectedOnReference.empty()) m_expectedOnReference = TRY(m_reference->run(m_exact));
  return errorOf(TRY(m_reference->run(plan)), m_expectedOnReference);
}

Result<double> PlanEvaluator::errorOf(const Outputs& actual, const Outputs& expected) const {
  return m_options.metric.empty() ? Result<double>(largestError(actual, expected)) : byMetric(actual, expected);
}

void PlanEvaluator::expectSetsNear(const PinSet& pins) {
  const auto plan = draft(pins);
  if (plan.ok()) m_runner->prefer(*plan.value(), pins.empty() ? kUnpinned : kCurrent);
}

double PlanEvaluator::largestError(const Outputs& actual, const Outputs& expected) const {
  double largest = 0;
  for (const std::size_t output : m_outputs) {
    for (std::size_t s = 0; s < actual[output].size(); ++s) {
      TensorErrorSums sums;
      sums.add(actual[output][s], expected[output][s], actual[output][s].type());
      largest = std::max(largest, largestOverRms(sums.error()));
    }
  }
  return largest;
}

Result<double> PlanEvaluator::byMetric(const Outputs& actual, const Outputs& expected) const {
  OutputArrays exact, judged;
  for (const std::size_t output : m_outputs) {
    const std::string& name = m_lowered->graph().value(m_lowered->graph().outputs()[output]).name;
    exact[name] = TRY(joinedAlongFirstAxis(expected[output], name));
    judged[name] = TRY(joinedAlongFirstAxis(actual[output], name));
  }
  return outsideMetric(m_options.metric, exact, judged, m_deadline.token());
}

}  // namespace fusescope
