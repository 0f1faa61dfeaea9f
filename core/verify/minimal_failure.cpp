#include "verify/minimal_failure.h"

#include <algorithm>

#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_backend.h"
#include "engine/program/boxed_values.h"
#include "engine/steps/fused_node_steps.h"

namespace fusescope {
namespace {

using Nodes = std::vector<NodeId>;
using ByName = std::map<std::string, Tensor>;

class Minimiser {
 public:
  Minimiser(const Plan& plan, const KernelRequests& requests, const FusedNode& fused, const Backend& backend,
            KernelStore& store, const StopToken& stop)
      : m_plan(plan), m_requests(requests), m_fused(fused), m_backend(backend), m_store(store), m_stop(stop) {}

  Result<std::optional<MinimalFailure>> run(std::span<const Tensor> inputs) {
    TRY(recordValues(inputs));
    Nodes nodes = m_fused.nodes;
    auto smallest = TRY(failing(nodes));
    if (!smallest) return smallest;
    for (std::size_t chunk = std::max<std::size_t>(nodes.size() / 2, 1);;) {
      if (auto smaller = TRY(withoutAChunk(nodes, chunk))) {
        smallest = std::move(smaller);
        chunk = std::clamp<std::size_t>(chunk, 1, std::max<std::size_t>(nodes.size() / 2, 1));
      } else if (chunk == 1) {
        return smallest;
      } else {
        chunk /= 2;
      }
    }
  }

 private:
  /// Records every value of the fused node, as the reference computes it with each node run separately.
  Status recordValues(std::span<const Tensor> inputs) {
    for (std::size_t i = 0; i < m_fused.inputs.size(); ++i)
      m_values[m_plan.graph().value(m_fused.inputs[i]).name] = inputs[i];
    const Part apart = TRY(partOf(m_plan, m_requests, m_fused.nodes, true, m_stop));
    const auto steps = TRY(FusedNodeSteps::create(apart.plan, extentsOf(*apart.plan),
                                                  {.backend = std::string(kReferenceBackend), .stop = m_stop}));
    for (const FusedNode& fused : apart.plan->fusedNodes) {
      auto step = TRY(steps->step(fused));
      const auto outputs = TRY(step.run(TRY(valuesOf(*apart.plan, fused)), m_stop));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        m_values[apart.plan->graph().value(fused.outputs[i].value).name] = outputs[i];
    }
    return Done{};
  }

  static std::map<std::string, Dims> extentsOf(const Plan& plan) {
    std::map<std::string, Dims> extents;
    for (const InputSpec& spec : plan.inputSpecs) extents[spec.name] = spec.opt;
    return extents;
  }

  Result<std::vector<Tensor>> valuesOf(const Plan& plan, const FusedNode& fused) const {
    std::vector<Tensor> values;
    for (const ValueId input : fused.inputs) {
      const std::string& name = plan.graph().value(input).name;
      const auto found = m_values.find(name);
      if (found == m_values.end())
        return Diagnostic{.message = "the reference did not calculate this value", .where = {.value = name}};
      values.push_back(found->second);
    }
    return values;
  }

  /// Returns how `nodes` fail on their own, or nothing if they do not.
  Result<std::optional<MinimalFailure>> failing(const Nodes& nodes) {
    TRY(checkStop(m_stop));
    Part part = TRY(partOf(m_plan, m_requests, nodes, false, m_stop));
    const auto run = planRunBy(part.plan, m_backend.name());
    const Plan& plan = *run;
    const KernelRequests requests = TRY(KernelRequests::create(plan, extentsOf(plan), m_requests.threads()));
    for (const FusedNode& fused : plan.fusedNodes) {
      if (whyDynamic(plan.graph(), requests.types(), fused) || requests.view(fused)) continue;
      const KernelRequest request = TRY(requests.of(fused));
      const RegionCase given = givenCase(request, "given", TRY(valuesOf(plan, fused)));
      auto check = TRY(checkRegion(backendOf(plan, fused), request, std::span(&given, 1), m_store, m_stop));
      if (!check.failure) continue;
      MinimalFailure found{.part = part, .failure = std::move(*check.failure)};
      for (const NodeId node : nodes) found.nodes.push_back(m_plan.graph().node(node).name);
      for (const std::string& input : part.inputs) {
        const auto id = plan.graph().findValue(input);
        found.inputs[input] = convertedTensor(m_values.at(input), plan.graph().value(*id).type.dtype);
      }
      return std::optional(std::move(found));
    }
    return std::optional<MinimalFailure>();
  }

  /// Returns the failure of the first set without `chunk` nodes of `nodes` that fails; `nodes` becomes that set.
  Result<std::optional<MinimalFailure>> withoutAChunk(Nodes& nodes, std::size_t chunk) {
    for (std::size_t begin = 0; begin < nodes.size() && nodes.size() > 1; begin += chunk) {
      Nodes fewer = nodes;
      const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(begin);
      fewer.erase(from, fewer.begin() + static_cast<std::ptrdiff_t>(std::min(begin + chunk, nodes.size())));
      if (fewer.empty()) continue;
      // A set that cannot be planned or run on its own shows nothing.
      auto found = failing(fewer);
      if (!found.ok() && found.error().cancelled) return std::move(found).error();
      if (!found.ok() || !found.value()) continue;
      nodes = std::move(fewer);
      return found;
    }
    return std::optional<MinimalFailure>();
  }

  const Plan& m_plan;
  const KernelRequests& m_requests;
  const FusedNode& m_fused;
  const Backend& m_backend;
  KernelStore& m_store;
  const StopToken& m_stop;
  ByName m_values;
};

}  // namespace

Result<std::optional<MinimalFailure>> minimalFailure(const Plan& plan, const KernelRequests& requests,
                                                     const FusedNode& fused, std::span<const Tensor> inputs,
                                                     const Backend& backend, KernelStore& store,
                                                     const StopToken& stop) {
  return Minimiser(plan, requests, fused, backend, store, stop).run(inputs);
}

}  // namespace fusescope
