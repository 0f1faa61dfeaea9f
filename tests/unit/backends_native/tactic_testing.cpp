#include "tests/unit/backends_native/tactic_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "backends/native/native_backend.h"
#include "backends/reference/reference_backend.h"
#include "engine/kernels/kernel_store.h"
#include "passes/pipelines.h"
#include "planning/kernel_bindings.h"

namespace fusescope::testing {
namespace {

/// A tensor in memory in a format, with room for whole vectors behind it.
struct Buffer {
  explicit Buffer(const TensorDesc& desc) : data((desc.bytes() + 63) / 64 * 64 + 64) {
    const std::size_t misfit = reinterpret_cast<std::uintptr_t>(data.data()) % 64;
    begin = data.data() + (misfit == 0 ? 0 : 64 - misfit);
  }
  std::vector<std::byte> data;
  std::byte* begin;
};

Status runKernel(const Kernel& kernel, const std::vector<const std::byte*>& inputs,
                 const std::vector<std::byte*>& outputs) {
  Buffer scratch(TensorDesc{DataType::U8, {static_cast<std::int64_t>(kernel.workspaceBytes())}});
  return kernel.run(inputs, outputs, scratch.begin);
}

Status convertBuffer(const TensorDesc& from, const std::byte* source, const TensorDesc& to, std::byte* target) {
  auto kernel = KernelStore().conversion(nativeBackend(), from, to, 2);
  if (!kernel.ok()) return kernel.error();
  return runKernel(*kernel.value(), {source}, {target});
}

/// The largest difference relative to the root mean square of what is expected; infinite where only one is finite.
double difference(const Tensor& actual, const Tensor& expected) {
  double squares = 0, worst = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double a = actual.asDouble(i), e = expected.asDouble(i);
    if ((std::isnan(a) && std::isnan(e)) || a == e) {
      squares += std::isfinite(e) ? e * e : 0;
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(e)) return INFINITY;
    squares += e * e;
    worst = std::max(worst, std::abs(a - e));
  }
  const double rms = expected.count() == 0 ? 1 : std::sqrt(squares / static_cast<double>(expected.count()));
  return worst / std::max(rms, std::numeric_limits<double>::min());
}

/// Whether an element that should be denormal is zero.
bool isFlushed(const Tensor& actual, const Tensor& expected) {
  const bool isWide = expected.type() == DataType::F32 || expected.type() == DataType::BF16;
  for (std::int64_t i = 0; i < expected.count() && isWide; ++i) {
    const double e = std::abs(expected.asDouble(i));
    if (e > 0 && e < std::numeric_limits<float>::min() && actual.asDouble(i) == 0) return true;
  }
  return false;
}

/// Codes that may lie half-way between two steps in any tensor, however small.
constexpr std::int64_t kTies = 2;

void compareCodes(const Tensor& actual, const Tensor& expected, TacticOutcome& outcome) {
  if (expected.type() != DataType::I8 && expected.type() != DataType::U8) return;
  std::int64_t unlike = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double steps = std::abs(actual.asDouble(i) - expected.asDouble(i));
    outcome.steps = std::max(outcome.steps, steps);
    unlike += steps != 0;
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(1, expected.count()));
  outcome.unlike = std::max(outcome.unlike, static_cast<double>(std::max<std::int64_t>(unlike - kTies, 0)) / count);
}

struct TriedNode {
  KernelRequest request;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};

TacticOutcome tryTactic(TriedNode& at, const Tactic& tactic) {
  const FusedNode& fused = *at.request.fused;
  TacticOutcome outcome{.fusedNode = fused.name,
                        .tactic = tactic.name,
                        .numerics = tactic.numerics,
                        .emulated = tactic.numerics.emulated};
  auto kernel = KernelStore().kernel(nativeBackend(), at.request, tactic);
  if (!kernel.ok()) {
    outcome.problem = kernel.error().text();
    return outcome;
  }
  outcome.scratchBytes = kernel.value()->workspaceBytes();
  PackedSet weights;
  kernel.value()->addWeights(weights);
  outcome.packedBytes = bytesOf(weights);
  std::vector<Buffer> memory;
  memory.reserve(fused.inputs.size() + fused.outputs.size());
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (std::size_t i = 0; i < fused.inputs.size(); ++i) {
    const TensorDesc plain{at.inputs[i].type(), at.inputs[i].dims(), MemoryFormat()};
    const TensorDesc wanted{plain.dtype, plain.dims, tactic.inputs[i]};
    memory.emplace_back(wanted);
    const Status status = convertBuffer(plain, at.inputs[i].bytes(), wanted, memory.back().begin);
    if (!status.ok()) outcome.problem = status.error().text();
    inputs.push_back(memory.back().begin);
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    TensorDesc desc = at.request.values.at(fused.outputs[i].value);
    desc.format = tactic.outputs[i];
    memory.emplace_back(desc);
    outputs.push_back(memory.back().begin);
  }
  for (int repeat = 0; repeat < 2 && outcome.problem.empty(); ++repeat) {
    const Status status = runKernel(*kernel.value(), inputs, outputs);
    if (!status.ok()) outcome.problem = status.error().text();
  }
  for (std::size_t i = 0; i < fused.outputs.size() && outcome.problem.empty(); ++i) {
    Tensor actual = Tensor::zeros(at.expected[i].type(), at.expected[i].dims());
    const TensorDesc plain{actual.type(), actual.dims(), MemoryFormat()};
    const Status status =
        convertBuffer({plain.dtype, plain.dims, tactic.outputs[i]}, outputs[i], plain, actual.mutableBytes());
    if (!status.ok()) outcome.problem = status.error().text();
    outcome.worst = std::max(outcome.worst, difference(actual, at.expected[i]));
    compareCodes(actual, at.expected[i], outcome);
    outcome.flushed = outcome.flushed || isFlushed(actual, at.expected[i]);
  }
  return outcome;
}

Status runReference(TriedNode& at) {
  const Tactic tactic = referenceBackend().tactics(at.request).back();
  const auto kernel = TRY(KernelStore().kernel(referenceBackend(), at.request, tactic));
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const Tensor& input : at.inputs) inputs.push_back(input.bytes());
  for (const FusedOutput& output : at.request.fused->outputs) {
    const TensorDesc& desc = at.request.values.at(output.value);
    at.expected.push_back(Tensor::zeros(desc.dtype, desc.dims));
  }
  for (Tensor& output : at.expected) outputs.push_back(output.mutableBytes());
  return runKernel(*kernel, inputs, outputs);
}

}  // namespace

Tensor randomTensor(DataType type, const Dims& dims, std::uint32_t seed) {
  std::mt19937 random(seed * 7919 + 17);
  std::uniform_real_distribution<float> real(-1.0f, 1.0f);
  Tensor tensor = Tensor::zeros(DataType::F32, dims);
  const bool byte = type == DataType::I8 || type == DataType::U8;
  for (float& value : tensor.mutableData<float>()) {
    if (byte) {
      value = static_cast<float>(random() % 256) - (type == DataType::I8 ? 128.0F : 0.0F);
      continue;
    }
    value = isFloat(type) ? real(random) : static_cast<float>(random() % (type == DataType::Bool ? 2 : 3));
  }
  return tensor.converted(type);
}

TensorType f32(const Dims& dims) {
  return {DataType::F32, Shape::of(dims)};
}

std::shared_ptr<const Plan> planned(GraphEditor& editor, const PlanOptions& options) {
  auto graph = editor.publish();
  if (!graph.ok()) throw std::runtime_error(graph.error().text());
  GraphEditor withOrigins(*graph.value());
  Model model;
  model.format = "test";
  for (const NodeId id : graph.value()->order()) {
    const Node& node = graph.value()->node(id);
    withOrigins.mutableNode(id).origins = {OriginId(model.origins.size())};
    model.origins.push_back({node.name, node.op, node.domain});
  }
  model.fileNodes = static_cast<std::int64_t>(model.origins.size());
  model.graph = withOrigins.publish().value();
  for (const ValueId id : model.graph->inputs()) {
    const Value& input = model.graph->value(id);
    const Dims dims = input.type.shape.fixed().value();
    model.inputSpecs.push_back(
        {.name = input.name, .dtype = input.type.dtype, .min = dims, .opt = dims, .max = dims, .source = "file"});
  }
  auto prepared = prepareModel(std::move(model));
  if (!prepared.ok()) throw std::runtime_error(prepared.error().text());
  auto plan = makePlan(std::make_shared<const Model>(std::move(prepared).value()), options);
  if (!plan.ok()) throw std::runtime_error(plan.error().text());
  return plan.value();
}

std::shared_ptr<const Plan> planned(const OneNode& description) {
  GraphEditor editor;
  std::map<std::string, ValueId> values;
  for (const auto& [name, type] : description.inputs) values[name] = editor.addInput(name, type);
  for (const auto& [name, tensor] : description.constants) values[name] = editor.addConstant(name, tensor);
  Node node{.op = description.op, .name = "node", .attributes = description.attributes};
  for (const std::string& name : description.order) node.inputs.push_back(name.empty() ? ValueId() : values.at(name));
  for (int i = 0; i < description.outputs; ++i) {
    node.outputs.push_back(editor.addValue("y" + std::to_string(i), {DataType::Undefined, Shape::unknown()}));
    editor.addOutput(node.outputs.back());
  }
  editor.addNode(node);
  return planned(editor);
}

Plan asOneKernel(const Plan& plan, std::string_view kind, const std::vector<Role>& roles) {
  Plan one = plan;
  const Graph& graph = plan.graph();
  FusedNode fused = plan.fusedNodes.front();
  fused.name = "all";
  fused.kind = kind;
  fused.nodes.assign(graph.order().begin(), graph.order().end());
  fused.root = fused.nodes.front();
  fused.inputs.assign(graph.inputs().begin(), graph.inputs().end());
  fused.outputs.clear();
  fused.innerEdges.clear();
  fused.bindings.clear();
  fused.compute = fused.accumulate = DataType::F32;
  for (const NodeId id : fused.nodes) {
    for (const ValueId value : graph.node(id).outputs) {
      if (graph.isOutput(value))
        fused.outputs.push_back({value, plan.storedType(value)});
      else
        fused.innerEdges.push_back({value, false, graph.value(value).type.dtype});
    }
  }
  fused.reads.clear();
  for (const ValueId value : fused.inputs) fused.reads.push_back(plan.storedType(value));
  for (const Role& role : roles) {
    const NodeId node = role.madeBy.valid() ? graph.value(role.madeBy).producer : NodeId();
    if (node.valid() && role.role == roles::kRoot) fused.root = node;
    fused.bindings.push_back({role.role, role.value, node});
  }
  fused.kernel = bindKernel(graph, fused);
  one.fusedNodes = {fused};
  one.index();
  return one;
}

std::vector<TacticOutcome> tryAllTactics(const Plan& plan, const MemoryFormat& delivered, int threads,
                                         const TensorMaker& inputs) {
  std::vector<TacticOutcome> outcomes;
  std::map<std::string, Dims> shapes;
  for (const InputSpec& spec : plan.inputSpecs) shapes[spec.name] = spec.opt;
  const Graph& graph = plan.graph();
  auto types = inferShapes(graph, shapes);
  if (!types.ok()) return {{.problem = types.error().text()}};
  std::uint32_t seed = 1;
  for (const FusedNode& fused : plan.fusedNodes) {
    TriedNode at{.request = {.plan = &plan, .fused = &fused, .threads = threads}};
    const auto note = [&](ValueId value) {
      if (!value.valid() || at.request.values.contains(value)) return;
      const auto dims = types.value()[value.index].shape.fixed();
      if (const Tensor* constant = graph.constantData(value)) at.request.addConstant(value, *constant);
      if (dims) at.request.values[value] = {plan.storedType(value), *dims};
    };
    for (const NodeId id : fused.nodes) {
      for (const ValueId value : graph.node(id).inputs) note(value);
      for (const ValueId value : graph.node(id).outputs) note(value);
    }
    for (const FusedOutput& output : fused.outputs) at.request.values[output.value].dtype = output.type;
    for (const ValueId value : fused.inputs) {
      const TensorDesc& desc = at.request.values.at(value);
      at.inputs.push_back(inputs(desc.dtype, desc.dims, seed++));
    }
    const Status status = runReference(at);
    if (!status.ok()) {
      outcomes.push_back({.fusedNode = fused.name, .tactic = "reference", .problem = status.error().text()});
      continue;
    }
    if (!delivered.isPlain()) at.request.formats = {delivered};
    for (const Tactic& tactic : nativeBackend().tactics(at.request)) outcomes.push_back(tryTactic(at, tactic));
  }
  return outcomes;
}

int expectAgreement(const std::vector<TacticOutcome>& outcomes, double tolerance) {
  int own = 0;
  for (const TacticOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.problem, "") << outcome.fusedNode << " by " << outcome.tactic;
    EXPECT_LE(outcome.worst, tolerance) << outcome.fusedNode << " by " << outcome.tactic;
    own += outcome.tactic != "reference";
  }
  return own;
}

void expectOwnKernels(Net& net, ValueId result) {
  net.editor.addOutput(result);
  const auto outcomes = tryAllTactics(*planned(net.editor), MemoryFormat());
  for (const TacticOutcome& outcome : outcomes)
    EXPECT_EQ(outcome.tactic.find(":reference"), std::string::npos) << outcome.tactic;
  EXPECT_GE(expectAgreement(outcomes, 1e-6), 1);
}

}  // namespace fusescope::testing
