#include "interchange/typed_network/network_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/engine.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Calls `visit` for each real float of the plan that both graphs have by name: value, type in the plan, in the
/// reading.
void forStored(const Plan& plan, const TypedNetwork& network, const Plan& reading,
               const std::function<void(const Value&, DataType, const Value&, DataType)>& visit) {
  std::set<ValueId> inner;
  for (const FusedNode& fused : reading.fusedNodes)
    for (const InnerEdge& edge : fused.innerEdges)
      if (!edge.real) inner.insert(edge.value);
  for (const FusedNode& fused : plan.fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      const Value& value = plan.graph().value(output.value);
      const auto name = network.storedAs.find(value.name);
      if (!isExchangeable(output.type) || value.type.container != Container::None || name == network.storedAs.end())
        continue;
      const auto other = reading.graph().findValue(name->second);
      if (!other || inner.contains(*other) || reading.graph().isConstant(*other)) continue;
      visit(value, output.type, reading.graph().value(*other), reading.storedType(*other));
    }
  }
}

PlanOptions withoutTypes(const PlanOptions& options) {
  PlanOptions kept = options;
  kept.precisions.clear();
  std::erase_if(kept.directives, [](const Directive& directive) {
    return asksForAType(directive) || directive.kind == DirectiveKind::Split ||
           directive.kind == DirectiveKind::NoFuse || directive.kind == DirectiveKind::Tactic;
  });
  return kept;
}

}  // namespace

Result<std::shared_ptr<const Plan>> planOfExported(const Plan& plan, std::shared_ptr<const Model> exported,
                                                   const StopToken& stop) {
  return makePlan(std::move(exported), withoutTypes(plan.options), nullptr, stop);
}

std::optional<Diagnostic> otherStoredType(const Plan& plan, const TypedNetwork& network, const Plan& reading) {
  std::optional<Diagnostic> first;
  std::size_t others = 0;
  forStored(plan, network, reading, [&](const Value& value, DataType planned, const Value&, DataType read) {
    if (planned == read) return;
    ++others;
    if (!first)
      first = Diagnostic{.message = fmt::format("is stored at {} in the plan, but at {} in the exported network as it "
                                                "is read again",
                                                name(planned), name(read)),
                         .where = {.value = value.name}};
  });
  if (others > 1) first->message += fmt::format("; {} other values likewise", others - 1);
  return first;
}

std::size_t comparedTypes(const Plan& plan, const TypedNetwork& network, const Plan& reading) {
  std::size_t count = 0;
  forStored(plan, network, reading, [&](const Value&, DataType, const Value&, DataType) { ++count; });
  return count;
}

namespace {

/// The same network with no kernel of two nodes: what a network is that stores each value.
Result<std::shared_ptr<const Plan>> unfused(const Plan& reading, const StopToken& stop) {
  PlanOptions options = reading.options;
  options.directives.push_back(splitDirective("*"));
  assignIds(options.directives);
  return makePlan(reading.model, options, nullptr, stop, &reading);
}

class NumbersChecker {
 public:
  NumbersChecker(std::shared_ptr<const Plan> plan, const TypedNetwork& network, const ExportOptions& options)
      : m_plan(std::move(plan)), m_network(network), m_options(options) {}

  Result<NumbersCheck> run(const Plan& reading) {
    const BuildOptions build{.backend = "reference", .measureTactics = false, .stop = m_options.stop};
    m_planned = TRY(buildEngine(m_plan, build));
    m_exported = TRY(buildEngine(TRY(unfused(reading, m_options.stop)), build));
    for (const auto& inputs : m_options.samples) TRY(compareOutputs(inputs));
    if (!m_check.ok)
      for (const auto& inputs : m_options.samples) TRY(compareValues(inputs));
    return std::move(m_check);
  }

 private:
  /// The inputs of the exported network, whose types may be those of the plan.
  std::map<std::string, Tensor> typed(const std::map<std::string, Tensor>& inputs) const {
    std::map<std::string, Tensor> typed = inputs;
    const Graph& graph = m_exported->plan().graph();
    for (const ValueId id : graph.inputs()) {
      const auto found = typed.find(graph.value(id).name);
      const DataType type = graph.value(id).type.dtype;
      if (found != typed.end() && isExchangeable(type) && found->second.type() != type)
        found->second = found->second.converted(type);
    }
    return typed;
  }

  static Tensor asF32(const Tensor& tensor) {
    return isExchangeable(tensor.type()) ? tensor.converted(DataType::F32) : tensor;
  }

  Status compareOutputs(const std::map<std::string, Tensor>& inputs) {
    const RunResult planned = TRY(m_planned->run(inputs, {}, m_options.stop));
    const RunResult exported = TRY(m_exported->run(typed(inputs), {}, m_options.stop));
    for (const auto& [name, tensor] : planned.outputs) {
      const auto found = exported.outputs.find(name);
      if (found == exported.outputs.end()) continue;
      const auto compared = compareTensors(name, asF32(found->second), asF32(tensor), m_options.tolerance);
      m_check.ok = m_check.ok && compared.ok;
      m_check.worst = std::max(m_check.worst, compared.maxOverRms);
    }
    return Done{};
  }

  /// Which fused nodes are the first to go wrong.
  Status compareValues(const std::map<std::string, Tensor>& inputs) {
    std::vector<std::string> marks, exportedMarks;
    for (const FusedNode& fused : m_plan->fusedNodes)
      for (const FusedOutput& output : fused.outputs)
        if (const std::string* name = storedName(output.value)) {
          marks.push_back(m_plan->graph().value(output.value).name);
          exportedMarks.push_back(*name);
        }
    const RunResult planned = TRY(m_planned->run(inputs, marks, m_options.stop));
    const RunResult exported = TRY(m_exported->run(typed(inputs), exportedMarks, m_options.stop));
    std::set<ValueId> wrong;
    for (const FusedNode& fused : m_plan->fusedNodes) {
      bool leavesWrong = false;
      for (const FusedOutput& output : fused.outputs) {
        const std::string* name = storedName(output.value);
        const std::string& value = m_plan->graph().value(output.value).name;
        const Tensor *ours = valueOf(planned, value), *theirs = name == nullptr ? nullptr : valueOf(exported, *name);
        if (ours == nullptr || theirs == nullptr) continue;
        const auto compared = compareTensors(value, asF32(*theirs), asF32(*ours), m_options.tolerance);
        if (compared.ok) continue;
        leavesWrong = true;
        wrong.insert(output.value);
        if (!m_check.firstWrong) {
          m_check.firstWrong = value;
          m_check.firstWrongBy = compared.maxOverRms;
        }
      }
      if (!leavesWrong) continue;
      m_check.allWrong.insert(fused.id.index);
      const bool readsWrong = std::ranges::any_of(fused.inputs, [&](ValueId input) { return wrong.contains(input); });
      if (!readsWrong) m_check.wrongFusedNodes.insert(fused.id.index);
    }
    return Done{};
  }

  const std::string* storedName(ValueId value) const {
    const auto found = m_network.storedAs.find(m_plan->graph().value(value).name);
    if (found == m_network.storedAs.end()) return nullptr;
    const auto there = m_exported->plan().graph().findValue(found->second);
    return there && m_exported->plan().graph().value(*there).producer.valid() ? &found->second : nullptr;
  }

  static const Tensor* valueOf(const RunResult& result, const std::string& name) {
    if (const auto marked = result.marked.find(name); marked != result.marked.end()) return &marked->second;
    const auto output = result.outputs.find(name);
    return output == result.outputs.end() ? nullptr : &output->second;
  }

  std::shared_ptr<const Plan> m_plan;
  const TypedNetwork& m_network;
  const ExportOptions& m_options;
  std::unique_ptr<Engine> m_planned, m_exported;
  NumbersCheck m_check;
};

}  // namespace

Result<NumbersCheck> checkNumbers(std::shared_ptr<const Plan> plan, const TypedNetwork& network,
                                  std::shared_ptr<const Plan> reading, const ExportOptions& options) {
  return NumbersChecker(std::move(plan), network, options).run(*reading);
}

}  // namespace fusescope
