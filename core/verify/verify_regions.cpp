#include "verify/verify_regions.h"

#include <algorithm>

#include "backends/reference/reference_backend.h"
#include "engine/boxed_values.h"
#include "engine/extent_check.h"
#include "engine/fused_node_steps.h"
#include "engine/input_check.h"
#include "verify/kept_values.h"

namespace fusescope {
namespace {

class Verifier {
 public:
  Verifier(FusedNodeSteps& quick, FusedNodeSteps& reference, const VerifyOptions& options)
      : m_plan(quick.plan()), m_quick(quick), m_reference(reference), m_options(options) {}

  Result<VerifyReport> run(const std::map<std::string, Tensor>& inputs) {
    for (const FusedNode& fused : m_plan.fusedNodes)
      for (const ValueId input : fused.inputs) m_values.willUse(input);
    for (const ValueId input : m_plan.graph().inputs())
      m_values.keep(input, {inputs.at(m_plan.graph().value(input).name)});
    for (const FusedNode& fused : m_plan.fusedNodes) {
      TRY(checkStop(m_options.stop));
      if (m_options.progress) m_options.progress("verify", fused.name);
      std::vector<Tensor> given;
      for (const ValueId input : fused.inputs) given.push_back(m_values.of(input).front());
      m_report.regions.push_back(TRY(verdictOf(fused, given)));
      TRY(advance(fused, given));
    }
    if (m_failure) {
      auto smallest = TRY(minimalFailure(m_plan, m_quick.requests(), *m_failing, m_failure->inputs,
                                         m_quick.backendOf(*m_failing), m_store, m_options.stop));
      m_report.mismatch = Mismatch{m_failing->name, std::move(*m_failure), std::move(smallest)};
    }
    return std::move(m_report);
  }

 private:
  /// The values that `fused` leaves, for the regions behind it. What is no float is taken from the reference: a wrong
  /// index would have no meaning there.
  Status advance(const FusedNode& fused, const std::vector<Tensor>& given) {
    const bool floats = std::ranges::all_of(fused.outputs, [](const FusedOutput& out) { return isFloat(out.type); });
    FusedNodeSteps& steps = floats ? m_quick : m_reference;
    auto step = TRY(steps.step(fused));
    auto outputs = TRY(step.run(given, m_options.stop));
    steps.release(std::move(step));
    for (std::size_t i = 0; i < outputs.size(); ++i) m_values.keep(fused.outputs[i].value, {std::move(outputs[i])});
    for (const ValueId input : fused.inputs) m_values.used(input);
    return Done{};
  }

  /// Why there is no kernel of `fused` to verify; nothing if there is.
  std::string whyNothing(const FusedNode& fused) const {
    if (const auto why = whyDynamic(m_plan.graph(), m_quick.requests().types(), fused))
      return "it is prepared while it runs: " + *why;
    if (m_quick.requests().view(fused)) return "it is a view of its input: nothing runs";
    const Backend& backend = m_quick.backendOf(fused);
    if (backend.name() == kReferenceBackend) return "the reference runs it";
    if (!backend.device().isHost()) return "it runs on another device than the host";
    return {};
  }

  /// The region whose code this is too; nothing if it is the first.
  Result<std::string> sameCode(const KernelRequest& request, const Backend& backend) {
    auto code = TRY(m_store.code(backend, request, backend.tactics(request).front()));
    const auto [known, isNew] = m_names.emplace(std::move(code), request.fused->name);
    return isNew ? std::string() : known->second;
  }

  Result<RegionVerdict> verdictOf(const FusedNode& fused, const std::vector<Tensor>& given) {
    RegionVerdict verdict{.fusedNode = fused.name, .notChecked = whyNothing(fused)};
    if (!verdict.notChecked.empty()) return verdict;
    const Backend& backend = m_quick.backendOf(fused);
    const KernelRequest request = TRY(m_quick.requests().of(fused));
    verdict.sameAs = TRY(sameCode(request, backend));
    if (!verdict.sameAs.empty()) {
      const auto of = std::ranges::find(m_report.regions, verdict.sameAs, &RegionVerdict::fusedNode);
      verdict.ok = of->ok;
      verdict.maxOverRms = of->maxOverRms;
      return verdict;
    }
    RegionCheck check =
        TRY(checkRegion(backend, request, regionCases(request, given, m_options.seeds), m_store, m_options.stop));
    verdict.tactics = std::move(check.tactics);
    verdict.ok = !check.failure;
    for (const TacticCheck& tactic : verdict.tactics)
      verdict.maxOverRms = std::max(verdict.maxOverRms, tactic.maxOverRms);
    if (verdict.tactics.empty()) verdict.notChecked = "the backend has no kernel for it: the reference runs it";
    const bool tellsMore = check.failure && (!m_failure || (m_failure->isEdge && !check.failure->isEdge));
    if (tellsMore) {
      m_failing = &fused;
      m_failure = std::move(check.failure);
    }
    return verdict;
  }

  const Plan& m_plan;
  FusedNodeSteps& m_quick;
  FusedNodeSteps& m_reference;
  const VerifyOptions& m_options;
  KernelStore m_store;
  KeptValues m_values;
  std::map<std::shared_ptr<const Code>, std::string> m_names;  ///< of the first region of each code
  const FusedNode* m_failing = nullptr;                        ///< whose failure tells most so far
  std::optional<RegionFailure> m_failure;
  VerifyReport m_report;
};

}  // namespace

Result<VerifyReport> verifyRegions(std::shared_ptr<const Plan> plan, const std::map<std::string, Tensor>& inputs,
                                   const VerifyOptions& options) {
  const auto extents = TRY(checkInputs(*plan, inputs));
  if (brokenCondition(*plan, extents)) plan = TRY(planForExtents(*plan, extents, options.stop));
  BuildOptions build{.backend = options.backend, .threads = options.threads, .stop = options.stop};
  const auto quick = TRY(FusedNodeSteps::create(plan, extents, build));
  build.backend = kReferenceBackend;
  const auto reference = TRY(FusedNodeSteps::create(plan, extents, build));
  return Verifier(*quick, *reference, options).run(inputs);
}

}  // namespace fusescope
