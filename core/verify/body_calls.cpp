#include "verify/body_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/reference/convert_elements.h"
#include "ir/graph.h"

namespace fusescope {

BodyCalls::BodyCalls(const Plan& plan, NodeId holder)
    : m_plan(plan), m_holder(holder), m_iterates(!plan.graph().node(holder).is("If")) {
  for (const CoverBody& body : plan.bodies)
    if (body.holder == holder) m_of[&plannedBody(body)];
}

void BodyCalls::beginRun(std::string name) {
  for (auto& [body, runs] : m_of) runs.push_back({.name = name});
}

Status BodyCalls::called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) {
  const auto found = m_of.find(&body);
  if (found == m_of.end()) return Done{};  // the holder is in a deeper body
  Run& run = found->second.back();
  const std::int64_t number = run.calls++;
  if (number > 1 && !std::has_single_bit(static_cast<std::uint64_t>(number))) return Done{};
  if (number > 2) run.kept.erase(std::prev(run.kept.end()));
  run.kept.emplace(number, inputs());
  return Done{};
}

std::vector<GivenInputs> BodyCalls::of(std::string_view attribute) const {
  std::vector<GivenInputs> calls;
  for (const Run& run : m_of.at(m_plan.bodyPlan(m_holder, attribute)))
    for (const auto& [number, inputs] : run.kept)
      calls.push_back({m_iterates ? fmt::format("{}, iteration {}", run.name, number) : run.name, inputs});
  return calls;
}

GivenInputs branchInputs(const Plan& plan, const FusedNode& holder, const std::string& attribute,
                         const GivenInputs& run) {
  const Graph& graph = plan.graph();
  const auto& branch = std::get<Subgraph>(graph.node(holder.root).attributes.at(attribute));
  GivenInputs made{run.name + ", as if this branch ran", {}};
  for (std::size_t i = 0; i < branch.captures.size(); ++i) {
    const ValueId captured = branch.captures[i];
    const auto input = std::ranges::find(holder.inputs, captured);
    const Tensor& value = input != holder.inputs.end()
                              ? run.values[static_cast<std::size_t>(input - holder.inputs.begin())]
                              : *graph.value(captured).constant;
    const Graph& body = *branch.graph;
    made.values.push_back(convertedTensor(value, body.value(body.inputs()[i]).type.dtype));
  }
  return made;
}

}  // namespace fusescope
