#include "tests/property/kernel_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "backends/reference/reference_nodes.h"
#include "engine/engine.h"
#include "engine/kernels/kernel_store.h"
#include "ops/op_schema.h"
#include "ops/run_node.h"
#include "tests/property/emulation.h"

namespace fusescope::property {

namespace {

using mutation::Dice;

Array randomArray(Dice& dice, Dims dims) {
  Array array = zeros(std::move(dims));
  for (double& value : array.values) value = static_cast<double>(dice.below(1 << 20)) / (1 << 18) - 2;
  return array;
}

/// What differs between `tensor` and what is expected of output `i`, beyond 2 ulp and 1e-5 of its rms.
std::string difference(const Tensor& tensor, DataType type, const Expected& expected, std::size_t i) {
  const Array& wanted = expected.outputs[i];
  if (tensor.dims() != wanted.dims)
    return fmt::format("extents {} in place of {}", toText(tensor.dims()), toText(wanted.dims));
  const double usual = isFloat(type) ? 1e-5 * rootMeanSquare(wanted) : 0;
  for (std::int64_t k = 0; k < tensor.count(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double given = tensor.asDouble(k), right = wanted.values[at];
    const double allowed = 2 * ulpAt(type, right) + usual + expected.spread[i].values[at];
    const bool same = given == right || (std::isnan(given) && std::isnan(right));
    if (!same && !(std::abs(given - right) <= allowed))
      return fmt::format("element {}: {} in place of {} (allowed {}, {})", k, given, right, allowed, name(type));
  }
  return {};
}

class KernelChecker {
 public:
  KernelChecker(const Plan& plan, Dice& dice, bool native, KernelCounts& counts)
      : m_plan(plan), m_graph(plan.graph()), m_dice(dice), m_native(native), m_counts(counts) {}

  std::string run() {
    for (const ValueId input : m_graph.inputs())
      m_stored[input] = toTensor(randomArray(m_dice, dimsOf(input)), m_plan.storedType(input));
    for (const FusedNode& fused : m_plan.fusedNodes)
      if (std::string problem = check(fused); !problem.empty())
        return fmt::format("{} '{}' of {}: {}", fused.kind, fused.name, m_plan.options.target, problem);
    return {};
  }

 private:
  Dims dimsOf(ValueId value) const { return m_graph.value(value).type.shape.fixed().value(); }

  /// What stands in memory for `value`; something else where it is useless.
  const Tensor& stored(ValueId value) {
    Tensor& tensor = m_stored[value];
    const Array array = fromTensor(tensor);
    const bool finite = std::ranges::all_of(array.values, [](double x) { return std::isfinite(x); });
    const double usual = rootMeanSquare(array);
    const DataType type = m_plan.storedType(value);
    if (isFloat(type) && (!finite || usual > 100 || usual < 1e-3))
      tensor = toTensor(randomArray(m_dice, dimsOf(value)), type);
    return tensor;
  }

  KernelRequest requestFor(const FusedNode& fused) const {
    KernelRequest request{.plan = &m_plan, .fused = &fused};
    for (std::size_t i = 0; i < fused.inputs.size(); ++i)
      request.values[fused.inputs[i]] = {fused.reads[i], dimsOf(fused.inputs[i])};
    for (const FusedOutput& output : fused.outputs) request.values[output.value] = {output.type, dimsOf(output.value)};
    for (const InnerEdge& edge : fused.innerEdges)
      if (!request.values.contains(edge.value)) request.values[edge.value] = {edge.type, dimsOf(edge.value)};
    for (const NodeId id : fused.nodes)
      for (const ValueId value : m_graph.node(id).inputs)
        if (const Tensor* data = m_graph.constantData(value)) request.addConstant(value, *data);
    return request;
  }

  std::string check(const FusedNode& fused) {
    std::vector<Array>& arrays = m_arrays;
    arrays.clear();
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < fused.inputs.size(); ++i) {
      arrays.push_back(fromTensor(stored(fused.inputs[i])));
      inputs.push_back(toTensor(arrays.back(), fused.reads[i]));
    }
    auto expected = expect(m_plan, fused, arrays);
    const KernelRequest request = requestFor(fused);
    std::vector<Tensor> results;
    std::string problem = expected ? reference(request, inputs, *expected, results) : std::string();
    m_counts.unknown += expected ? 0 : 1;
    m_counts.kernels += expected ? 1 : 0;
    if (problem.empty() && expected && m_native && !m_plan.inFallback(fused))
      problem = native(request, inputs, *expected);
    if (!problem.empty()) return problem;
    for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
      const auto& [value, type] = fused.outputs[i];
      m_stored[value] = expected ? results[i] : toTensor(randomArray(m_dice, dimsOf(value)), type);
    }
    return {};
  }

  std::string reference(const KernelRequest& request, const std::vector<Tensor>& inputs, Expected& expected,
                        std::vector<Tensor>& results) {
    auto nodes = ReferenceNodes::prepare(request);
    if (!nodes.ok()) return nodes.error().text();
    const auto constants = nodes.value()->constantsOf(request);
    if (!constants.ok()) return constants.error().text();
    auto given = nodes.value()->run(inputs, constants.value());
    if (!given.ok()) return given.error().text();
    results = std::move(given.value());
    return compared("reference", request, results, expected);
  }

  std::string compared(const std::string& who, const KernelRequest& request, const std::vector<Tensor>& results,
                       Expected& expected) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const FusedOutput& output = request.fused->outputs[i];
      if (results[i].type() != output.type)
        return fmt::format("{}: {} in place of {}", who, name(results[i].type()), name(output.type));
      std::string problem = difference(results[i], output.type, expected, i);
      if (!problem.empty() && !expected.isSpread) {
        findSpread(m_plan, *request.fused, m_arrays, expected);
        problem = difference(results[i], output.type, expected, i);
      }
      if (!problem.empty()) return fmt::format("{}: {}: {}", who, m_graph.value(output.value).name, problem);
    }
    return {};
  }

  std::string native(const KernelRequest& request, const std::vector<Tensor>& inputs, Expected& expected) {
    const Backend& backend = *findBackend("native");
    const auto plain = [](const std::vector<MemoryFormat>& formats) {
      return std::ranges::all_of(formats, [](const MemoryFormat& format) { return format.isPlain(); });
    };
    for (const Tactic& tactic : backend.tactics(request)) {
      if (!plain(tactic.inputs) || !plain(tactic.outputs) || tactic.backend == "reference") continue;
      const auto kernel = KernelStore().kernel(backend, request, tactic);
      if (!kernel.ok()) continue;  // told apart from wrong results: the engine asks the next tactic
      std::vector<Tensor> results;
      std::vector<const std::byte*> from;
      std::vector<std::byte*> to;
      for (const Tensor& input : inputs) from.push_back(input.bytes());
      for (const FusedOutput& output : request.fused->outputs) {
        results.push_back(Tensor::zeros(output.type, dimsOf(output.value)));
        to.push_back(results.back().mutableBytes());
      }
      const auto scratchBytes = static_cast<std::int64_t>(kernel.value()->workspaceBytes());
      Tensor scratch = Tensor::zeros(DataType::U8, {scratchBytes});
      if (const Status ran = kernel.value()->run(from, to, scratch.mutableBytes()); !ran.ok())
        return ran.error().text();
      ++m_counts.native;
      m_counts.narrow += isEmulated(m_plan, *request.fused) ? 1 : 0;
      if (std::string problem = compared(tactic.name, request, results, expected); !problem.empty()) return problem;
    }
    return {};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  Dice& m_dice;
  const bool m_native;
  KernelCounts& m_counts;
  std::vector<Array> m_arrays;  ///< what the kernel being checked reads
  std::map<ValueId, Tensor> m_stored;
};

bool within2Ulp(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = a.asDouble(i), y = b.asDouble(i);
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    if (!same && !(std::abs(x - y) <= 2 * ulpAt(a.type(), y))) return false;
  }
  return true;
}

}  // namespace

Result<std::map<std::string, Tensor>> runNodes(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  std::map<ValueId, Tensor> values;
  for (const ValueId value : graph.allValues()) {
    if (const Tensor* data = graph.constantData(value)) values[value] = *data;
    if (graph.isInput(value)) values[value] = inputs.at(graph.value(value).name);
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> operands;
    for (const ValueId value : fusescope::operands(node)) operands.push_back(&values.at(value));
    std::vector<Tensor> results = TRY(runNode(node, operands));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = std::move(results[i]);
  }
  std::map<std::string, Tensor> outputs;
  for (const ValueId value : graph.outputs()) outputs[graph.value(value).name] = values.at(value);
  return outputs;
}

bool isNear(const Tensor& a, const Tensor& b) {
  if (a.dims() != b.dims()) return false;
  double squares = 0;
  for (std::int64_t i = 0; i < b.count(); ++i)
    if (std::isfinite(b.asDouble(i))) squares += b.asDouble(i) * b.asDouble(i);
  const double rms = b.count() == 0 ? 0 : std::sqrt(squares / static_cast<double>(b.count()));
  for (std::int64_t i = 0; i < b.count(); ++i) {
    const double x = a.asDouble(i), y = b.asDouble(i);
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    if (!same && !(std::abs(x - y) <= 1e-3 * (rms + std::abs(y)) + 1e-5)) return false;
  }
  return true;
}

std::string checkKernels(const Plan& plan, Dice& dice, bool native, KernelCounts& counts) {
  return KernelChecker(plan, dice, native, counts).run();
}

std::string checkEngine(const std::shared_ptr<const Plan>& plan, Dice& dice) {
  const Graph& graph = plan->graph();
  std::map<std::string, Tensor> inputs;
  for (const ValueId value : graph.inputs()) {
    const Value& input = graph.value(value);
    inputs[input.name] = toTensor(randomArray(dice, input.type.shape.fixed().value()), input.type.dtype);
  }
  const auto wanted = runNodes(graph, inputs);
  if (!wanted.ok()) return wanted.error().text();
  auto engine = buildEngine(plan, {.backend = "reference", .threads = 1, .measureTactics = false});
  if (!engine.ok()) return engine.error().text();
  const auto given = engine.value()->run(inputs);
  if (!given.ok()) return given.error().text();
  for (const auto& [output, tensor] : wanted.value()) {
    const auto found = given.value().outputs.find(output);
    if (found == given.value().outputs.end()) return "no output " + output;
    if (!within2Ulp(found->second, tensor)) return "output " + output + " is not what the nodes give one by one";
  }
  return {};
}

}  // namespace fusescope::property
