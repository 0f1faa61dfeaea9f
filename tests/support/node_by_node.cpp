#include "tests/support/node_by_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/native/native_backend.h"
#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_nodes.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/kernel_store.h"

namespace fusescope::test {
namespace {

/// Returns the distance from |value| to the next number of `type`.
double ulpAt(DataType type, double value) {
  const int digits = type == DataType::BF16 ? 8 : type == DataType::F16 ? 11 : 24;
  const int least = type == DataType::F16 ? -24 : type == DataType::BF16 ? -133 : -149;
  const int exponent = value == 0 || !std::isfinite(value) ? least : std::ilogb(value) - digits + 1;
  return std::ldexp(1.0, std::max(exponent, least));
}

struct Magnitude {
  double rms = 0, largest = 0;
};

Magnitude magnitudeOf(const Tensor& tensor) {
  Magnitude all;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.asDouble(i);
    if (!std::isfinite(value)) continue;
    all.rms += value * value;
    all.largest = std::max(all.largest, std::abs(value));
  }
  all.rms = tensor.count() == 0 ? 0 : std::sqrt(all.rms / static_cast<double>(tensor.count()));
  return all;
}

DataType narrowedEdge(const FusedNode& fused) {
  for (const InnerEdge& edge : fused.innerEdges)
    if (!edge.real && isFloat(edge.type) && edge.type != DataType::F32) return edge.type;
  return DataType::Undefined;
}

class Walk {
 public:
  Walk(const Plan& plan, const std::map<std::string, Tensor>& inputs) : m_plan(plan), m_graph(plan.graph()) {
    for (const ValueId input : m_graph.inputs()) {
      const Tensor& given = inputs.at(m_graph.value(input).name);
      m_stored[input] = convertedTensor(given, m_plan.storedType(input));
      m_extents[m_graph.value(input).name] = given.dims();
    }
  }

  NodeByNode run() {
    auto requests = KernelRequests::create(m_plan, m_extents, 1);
    if (!requests.ok()) {
      fail(requests.error().text());
      return m_found;
    }
    for (const FusedNode& fused : m_plan.fusedNodes) {
      ++m_found.fusedNodes;
      const std::vector<Tensor> inputs = inputsOf(fused);
      std::vector<Tensor> expected;
      if (!runReference(fused, requests.value(), inputs, expected)) break;
      const auto request = requests.value().of(fused);
      const bool isOurs = !m_plan.inFallback(fused) && request.ok();
      if (isOurs) compare(request.value(), inputs, expected);
      for (std::size_t i = 0; i < fused.outputs.size(); ++i) m_stored[fused.outputs[i].value] = expected[i];
    }
    return m_found;
  }

 private:
  void fail(std::string problem) {
    m_found.problems.push_back(std::move(problem));
    m_found.isUnknown = true;
  }

  std::vector<Tensor> inputsOf(const FusedNode& fused) const {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < fused.inputs.size(); ++i)
      inputs.push_back(convertedTensor(m_stored.at(fused.inputs[i]), fused.reads[i]));
    return inputs;
  }

  bool runReference(const FusedNode& fused, const KernelRequests& requests, const std::vector<Tensor>& inputs,
                    std::vector<Tensor>& expected) {
    KernelRequest request{.plan = &m_plan, .fused = &fused};
    const Status constants = requests.addConstants(request);
    const auto failed = [&](const Diagnostic& error) {
      fail(fused.name + ": the reference: " + error.text());
      return false;
    };
    if (!constants.ok()) return failed(constants.error());
    const auto nodes = ReferenceNodes::prepare(request);
    if (!nodes.ok()) return failed(nodes.error());
    const auto packed = nodes.value()->constantsOf(request);
    if (!packed.ok()) return failed(packed.error());
    auto results = nodes.value()->run(inputs, packed.value());
    if (!results.ok()) return failed(results.error());
    expected = std::move(results).value();
    return true;
  }

  void compare(const KernelRequest& request, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
    int ours = 0;
    for (const Tactic& tactic : nativeBackend().tactics(request)) {
      if (tactic.backend == "reference" || tactic.numerics.emulated) continue;
      ++ours;
      const std::string who = fmt::format("{} ({}) by {}", request.fused->name, request.fused->kind, tactic.name);
      auto results = runTactic(request, tactic, inputs, expected);
      if (!results.ok()) {
        m_found.problems.push_back(who + ": " + results.error().text());
        continue;
      }
      ++m_found.kernels;
      m_found.narrow += isEmulated(m_plan, *request.fused) ? 1 : 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string problem = difference(*request.fused, results.value()[i], expected[i]);
        if (!problem.empty()) m_found.problems.push_back(who + ": " + problem);
      }
    }
    if (ours == 0 && isEmulated(m_plan, *request.fused))
      m_found.emulated.push_back(fmt::format("{} ({})", request.fused->name, request.fused->kind));
  }

  Result<Tensor> converted(const Tensor& tensor, const TensorDesc& from, const TensorDesc& to) {
    const auto kernel = TRY(m_kernels.conversion(nativeBackend(), from, to, 1));
    Tensor result = Tensor::zeros(DataType::U8, {static_cast<std::int64_t>(to.bytes())});
    Tensor scratch = Tensor::zeros(DataType::U8, {static_cast<std::int64_t>(kernel->workspaceBytes())});
    const std::byte* source = tensor.bytes();
    std::byte* target = result.mutableBytes();
    TRY(kernel->run(std::span(&source, 1), std::span(&target, 1), scratch.mutableBytes()));
    return result;
  }

  Result<std::vector<Tensor>> runTactic(const KernelRequest& request, const Tactic& tactic,
                                        const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
    const auto kernel = TRY(m_kernels.kernel(nativeBackend(), request, tactic));
    std::vector<Tensor> given, made, results;
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorDesc plain{inputs[i].type(), inputs[i].dims(), MemoryFormat()};
      const bool isPlain = tactic.inputs[i].isPlain();
      given.push_back(isPlain ? inputs[i]
                              : TRY(converted(inputs[i], plain, {plain.dtype, plain.dims, tactic.inputs[i]})));
      from.push_back(given.back().bytes());
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const TensorDesc desc{expected[i].type(), expected[i].dims(), tactic.outputs[i]};
      made.push_back(Tensor::zeros(DataType::U8, {static_cast<std::int64_t>(desc.bytes())}));
      to.push_back(made.back().mutableBytes());
    }
    Tensor scratch = Tensor::zeros(DataType::U8, {static_cast<std::int64_t>(kernel->workspaceBytes()) + 64});
    TRY(kernel->run(from, to, scratch.mutableBytes()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const TensorDesc plain{expected[i].type(), expected[i].dims(), MemoryFormat()};
      const bool isPlain = tactic.outputs[i].isPlain();
      const Tensor bytes =
          isPlain ? made[i] : TRY(converted(made[i], {plain.dtype, plain.dims, tactic.outputs[i]}, plain));
      const auto owner = std::make_shared<Tensor>(bytes);
      results.push_back(Tensor::view(plain.dtype, plain.dims, owner, owner->bytes()));
    }
    return results;
  }

  std::string difference(const FusedNode& fused, const Tensor& given, const Tensor& expected) {
    const Magnitude magnitude = magnitudeOf(expected);
    const DataType narrowed = narrowedEdge(fused);
    const double flip = narrowed == DataType::Undefined ? 0 : ulpAt(narrowed, 1) * magnitude.largest;
    std::int64_t flipped = 0;
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const double a = given.asDouble(i), e = expected.asDouble(i);
      if (a == e || (std::isnan(a) && std::isnan(e))) continue;
      const double usual = isFloat(expected.type()) ? 1e-5 * magnitude.rms : 0;
      const double ulp = isFloat(expected.type()) ? ulpAt(expected.type(), e) : 0;
      const double off = std::abs(a - e);
      if (off <= 2 * ulp + usual) {
        if (ulp > 0) m_found.worstUlp = std::max(m_found.worstUlp, (off - usual) / ulp);
        continue;
      }
      if (off <= 2 * ulp + usual + flip && ++flipped <= std::max<std::int64_t>(1, expected.count() / 100)) continue;
      return fmt::format("element {}: {} in place of {} ({}, rms {})", i, a, e, name(expected.type()), magnitude.rms);
    }
    return {};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  KernelStore m_kernels;
  std::map<ValueId, Tensor> m_stored;
  std::map<std::string, Dims> m_extents;
  NodeByNode m_found;
};

}  // namespace

NodeByNode runNodeByNode(const Plan& plan, const std::map<std::string, Tensor>& inputs) {
  return Walk(plan, inputs).run();
}

}  // namespace fusescope::test
