#include "interchange/typed_network/numbers_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/kernels/input_check.h"
#include "planning/structure.h"
#include "planning/types/without_lowered_types.h"

namespace fusescope {
namespace {

constexpr const char* kReference = "reference";

/// `plan` as it can run here: what it calculates is in its contracts, whatever target it is planned for.
std::shared_ptr<const Plan> runnable(const std::shared_ptr<const Plan>& plan) {
  if (!plan->target.planningOnly) return plan;
  auto here = std::make_shared<Plan>(*plan);
  here->target.planningOnly = false;
  for (CoverBody& body : here->bodies) body.cover = runnable(std::static_pointer_cast<const Plan>(body.cover));
  return here;
}

/// `options` for a target that engines are built for here.
PlanOptions builtHere(const Target& target, PlanOptions options) {
  if (target.planningOnly) options.target = "cpu";
  return options;
}

/// The same network with no kernel of two nodes: what a network is that stores each value.
Result<std::shared_ptr<const Plan>> unfused(const Plan& reading, const StopToken& stop) {
  PlanOptions options = forOwnCompiler(builtHere(reading.target, reading.options));
  options.directives.push_back(splitDirective("*"));
  assignIds(options.directives);
  return makePlan(reading.model, options, nullptr, stop, reading.target.planningOnly ? nullptr : &reading);
}

/// Inputs as the plan's network declares them: those of an exported one may have the types of the plan.
std::map<std::string, Tensor> typedFor(const Plan& plan, const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Tensor> typed = inputs;
  for (const ValueId id : plan.graph().inputs()) {
    const auto found = typed.find(plan.graph().value(id).name);
    const DataType type = plan.graph().value(id).type.dtype;
    if (found != typed.end() && isExchangeable(type) && isExchangeable(found->second.type()) &&
        found->second.type() != type)
      found->second = found->second.converted(type);
  }
  return typed;
}

const Tensor* valueOf(const RunResult& result, const std::string& name) {
  if (const auto marked = result.marked.find(name); marked != result.marked.end()) return &marked->second;
  const auto output = result.outputs.find(name);
  return output == result.outputs.end() ? nullptr : &output->second;
}

/// What the exported network calls the stored value, where a node of it makes that.
const std::string* storedName(const TypedNetwork& network, const Plan& exported, const std::string& value) {
  const auto found = network.storedAs.find(value);
  if (found == network.storedAs.end()) return nullptr;
  const auto there = exported.graph().findValue(found->second);
  return there && exported.graph().value(*there).producer.valid() ? &found->second : nullptr;
}

/// Returns whether something can be held against the tensor: it is empty, or some element is a number.
bool hasNumbers(const Tensor& tensor) {
  return tensor.count() == 0 || notFiniteIn(tensor) < tensor.count();
}

/// Error: float32 itself gives no number on the sample of this name, so that nothing could be held against it there.
Status checkComparable(const std::map<std::string, Tensor>& inputs, const std::map<std::string, Tensor>& outputs,
                       const std::string& sample) {
  if (outputs.empty() || std::ranges::any_of(outputs, [](const auto& output) { return hasNumbers(output.second); }))
    return Done{};
  const std::vector<NotFiniteInput> odd = notFiniteInputs(inputs, {});
  return onSample(
      Diagnostic{
          .message = fmt::format(
              "the check would mean nothing, because every output of the network is infinite or NaN in float32 too{}",
              odd.empty() ? "" : ", and " + inWords(odd)),
          .where = {.value = odd.empty() ? outputs.begin()->first : odd.front().input},
          .help = "Nothing was written. Give inputs for which the network has finite outputs, or give no inputs; then "
                  "nothing is checked, and the export says so."},
      sample);
}

}  // namespace

BuildOptions NumbersChecker::buildOptions(const std::string& backend) const {
  BuildOptions options{.backend = backend, .measureTactics = false, .stop = m_options.stop};
  for (const auto& [name, tensor] : m_options.samples.front()) options.shapes.emplace(name, tensor.dims());
  return options;
}

Result<std::unique_ptr<NumbersChecker>> NumbersChecker::create(const Plan& judged, std::shared_ptr<const Plan> written,
                                                               const ExportOptions& options) {
  std::unique_ptr<NumbersChecker> checker(new NumbersChecker(options));
  const PlanOptions exact = builtHere(judged.target, withoutLoweredTypes(judged.options));
  checker->m_exact = TRY(makePlan(unquantized(judged.model), exact, nullptr, options.stop));
  {
    const auto reference = TRY(buildEngine(checker->m_exact, checker->buildOptions(kReference)));
    checker->m_exactOnReference = TRY(checker->outputsOf(*reference));
    const std::vector<std::string> names = sampleNames(options.sampleNames, options.samples.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      TRY(checkComparable(options.samples[i], checker->m_exactOnReference[i], names[i]));
  }
  checker->m_planned = TRY(buildEngine(runnable(written), checker->buildOptions(kReference)));
  checker->m_plannedOutputs = TRY(checker->outputsOf(*checker->m_planned));
  checker->m_planFromFloat32 = checker->apart(checker->m_plannedOutputs, checker->m_exactOnReference);
  return checker;
}

Result<std::vector<NumbersChecker::Outputs>> NumbersChecker::outputsOf(Engine& engine) const {
  std::vector<Outputs> outputs;
  const std::vector<std::string> names = sampleNames(m_options.sampleNames, m_options.samples.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto inputs = typedFor(engine.plan(), m_options.samples[i]);
    outputs.push_back(TRY(onSample(engine.run(inputs, {}, m_options.stop), names[i])).outputs);
  }
  return outputs;
}

OutputDifference NumbersChecker::apart(const std::vector<Outputs>& actual, const std::vector<Outputs>& expected) const {
  OutputDifference apart;
  for (std::size_t sample = 0; sample < expected.size(); ++sample)
    for (const auto& [name, tensor] : expected[sample])
      if (const auto found = actual[sample].find(name); found != actual[sample].end())
        apart.add(sample, name, found->second, tensor, m_options.tolerance);
  return apart;
}

Result<NumbersCheck> NumbersChecker::onReference(const TypedNetwork& network, const Plan& reading) {
  const auto exported = TRY(buildEngine(TRY(unfused(reading, m_options.stop)), buildOptions(kReference)));
  const std::vector<Outputs> outputs = TRY(outputsOf(*exported));
  NumbersCheck check{.fromFloat32 = apart(outputs, m_exactOnReference), .fromPlan = apart(outputs, m_plannedOutputs)};
  if (!check.ok()) TRY(compareValues(network, *exported, check));
  return check;
}

Result<OutputDifference> NumbersChecker::onEngine(const Plan& reading) {
  if (m_exactOnEngine.empty()) m_exactOnEngine = TRY(outputsOf(*TRY(buildEngine(m_exact, buildOptions({})))));
  const PlanOptions options = builtHere(reading.target, reading.options);
  const auto plan = TRY(makePlan(reading.model, options, nullptr, m_options.stop));
  return apart(TRY(outputsOf(*TRY(buildEngine(plan, buildOptions({}))))), m_exactOnEngine);
}

/// Which fused nodes of the plan are the first to go wrong.
Status NumbersChecker::compareValues(const TypedNetwork& network, Engine& exported, NumbersCheck& check) {
  const Plan& plan = m_planned->plan();
  std::vector<std::string> marks, exportedMarks;
  for (const FusedNode& fused : plan.fusedNodes)
    for (const FusedOutput& output : fused.outputs) {
      const std::string& value = plan.graph().value(output.value).name;
      if (const std::string* name = storedName(network, exported.plan(), value)) {
        marks.push_back(value);
        exportedMarks.push_back(*name);
      }
    }
  for (const auto& inputs : m_options.samples) {
    const RunResult planned = TRY(m_planned->run(inputs, marks, m_options.stop));
    const RunResult theirs = TRY(exported.run(typedFor(exported.plan(), inputs), exportedMarks, m_options.stop));
    std::set<ValueId> wrong;
    for (const FusedNode& fused : plan.fusedNodes) {
      bool leavesWrong = false;
      for (const FusedOutput& output : fused.outputs) {
        const std::string& value = plan.graph().value(output.value).name;
        const std::string* name = storedName(network, exported.plan(), value);
        const Tensor *expected = valueOf(planned, value), *actual = name == nullptr ? nullptr : valueOf(theirs, *name);
        if (expected == nullptr || actual == nullptr) continue;
        OutputDifference apart;
        apart.add(0, value, *actual, *expected, m_options.tolerance);
        if (apart.ok) continue;
        leavesWrong = true;
        wrong.insert(output.value);
        if (!check.firstWrong) {
          check.firstWrong = value;
          check.firstWrongBy = apart.worst;
        }
      }
      if (!leavesWrong) continue;
      check.allWrong.insert(fused.id.index);
      const bool readsWrong = std::ranges::any_of(fused.inputs, [&](ValueId input) { return wrong.contains(input); });
      if (!readsWrong) check.wrongFusedNodes.insert(fused.id.index);
    }
  }
  return Done{};
}

}  // namespace fusescope
