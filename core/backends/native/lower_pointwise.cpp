#include <algorithm>
#include <cmath>

#include "backends/native/integer_step.h"
#include "backends/native/lowering.h"
#include "backends/native/narrow_floats.h"
#include "backends/native/tape_builder.h"
#include "base/hash.h"

namespace fusescope::native {
namespace {

bool fitsTape(DataType type) {
  return type == DataType::F32 || type == DataType::Bool;
}

/// The format a tape works in: that of an operand of full size, if whole blocks allow it.
MemoryFormat tapeFormat(const std::vector<Ref>& inputs, const Dims& domain) {
  for (const Ref& ref : inputs) {
    if (!ref.format.isPlain() && ref.dims == domain && ref.format.padded(domain) == domain) return ref.format;
  }
  return MemoryFormat();
}

/// By channel, of scale, bias, mean and variance: what x is multiplied by, or what is added then.
Packing batchNormPacking(std::vector<Weight> parameters, float epsilon, bool isShift) {
  KeyBuilder form;
  form.text("batch_norm").number(epsilon).number(isShift);
  return packingOf(
      form.canonical(), std::move(parameters), [epsilon, isShift](std::span<const Tensor> numbers) -> Result<Tensor> {
        Tensor packed = Tensor::zeros(DataType::F32, {numbers[0].count()});
        const double wide = epsilon;
        for (std::int64_t c = 0; c < packed.count(); ++c) {
          const double factor = numbers[0].asDouble(c) / std::sqrt(numbers[3].asDouble(c) + wide);
          const double number = isShift ? numbers[1].asDouble(c) - numbers[2].asDouble(c) * factor : factor;
          packed.mutableData<float>()[static_cast<std::size_t>(c)] = static_cast<float>(number);
        }
        return packed;
      });
}

}  // namespace

// Scales and zero points are constants: one number, or one per index of an axis.
bool Lowering::isTapeQuantization(const Node& node) const {
  const bool quantizes = node.is("QuantizeLinear");
  const DataType floats = typeOf(quantizes ? node.input(0) : node.outputs[0]);
  const DataType codes = typeOf(quantizes ? node.outputs[0] : node.input(0));
  if (!isConstant(node.input(1))) return false;
  const Weight scale = weight(node.input(1));
  const bool fits =
      floats == DataType::F32 && isByteInteger(codes) && scale.type == DataType::F32 && scale.dims.size() <= 1;
  const bool plainRule = node.intAttribute("block_size", 0) == 0 && node.intAttribute("precision", 0) == 0;
  const ValueId zero = node.input(2);
  const bool isAlongAxis = elementCount(scale.dims) != 1;  // of which a single number has none
  return fits && plainRule && !(isAlongAxis && dimsOf(node.input(0)).empty()) &&
         (!zero.valid() || (isConstant(zero) && elementCount(dimsOf(zero)) == elementCount(scale.dims)));
}

// Per channel a factor and a shift, when the four parameters are constants.
bool Lowering::isTapeBatchNorm(const Node& node) const {
  for (std::size_t i = 1; i < 5; ++i)
    if (!isConstant(node.input(i))) return false;
  return typeOf(node.input(0)) == DataType::F32 && node.domain.empty() && dimsOf(node.input(0)).size() >= 2 &&
         std::ranges::count_if(node.outputs, [](ValueId value) { return value.valid(); }) == 1 &&
         node.intAttribute("training_mode", 0) == 0;
}

bool Lowering::isPointwise(const Node& node) const {
  if (isQuantization(node)) return isTapeQuantization(node);
  if (node.is("BatchNormalization")) return isTapeBatchNorm(node);
  if (node.outputs.size() == 1 && node.domain.empty() &&
      isIntegerTape(node, typeOf(node.input(0)), typeOf(node.outputs[0])))
    return true;
  if (!hasTapeOperator(node) || !fitsTape(typeOf(node.outputs[0]))) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return !input.valid() || fitsTape(typeOf(input)); });
}

Result<bool> Lowering::lowerInteger(const Node& node) {
  std::vector<DataType> types;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) return false;
    types.push_back(typeOf(input));
  }
  if (!hasIntegerStep(node, types)) return false;
  std::vector<Ref> operands;
  std::vector<BufferIndex> reads;
  for (const ValueId input : node.inputs) {
    operands.push_back(TRY(plain(TRY(ref(input)))));
    reads.push_back(operands.back().buffer);
  }
  const Ref target = allocate(node.outputs[0]);
  define(node.outputs[0], target);
  m_implementations.push_back("integer");
  m_program.addStep(makeIntegerStep(node, operands, target), reads, {target.buffer});
  return true;
}

Status Lowering::flushPointwise() {
  std::vector<NodeId> nodes;
  nodes.swap(m_pending);
  if (nodes.empty()) return Done{};
  const std::set<NodeId> group(nodes.begin(), nodes.end());
  std::optional<Dims> domain;
  bool one = true;
  for (NodeId id : nodes) {
    const ValueId value = node(id).outputs[0];
    const std::vector<NodeId> users = consumers(value);
    const bool leaves = isFusedOutput(value) || users.empty() ||
                        std::any_of(users.begin(), users.end(), [&](NodeId user) { return !group.contains(user); });
    if (!leaves) continue;
    one = one && (!domain || *domain == dimsOf(value));
    domain = dimsOf(value);
  }
  if (one) return emitTape(nodes);
  for (NodeId id : nodes) TRY(emitTape({id}));
  return Done{};
}

Status Lowering::emitTape(const std::vector<NodeId>& nodes) {
  const std::set<NodeId> group(nodes.begin(), nodes.end());
  const auto number = [this](ValueId value) {
    return fitsTape(typeOf(value)) || isByteInteger(typeOf(value)) ? constantNumber(value) : std::nullopt;
  };
  TapeBuilder builder(
      number, [this](ValueId value) { return dimsOf(value).size(); }, [this](ValueId value) { return typeOf(value); });
  std::vector<ValueId> results;
  for (NodeId id : nodes) {
    if (const auto sums = m_sums.find(id); sums != m_sums.end()) {
      builder.addScaledSums(node(id), sums->second.bias.has_value());
    } else {
      builder.add(node(id), typeOf(node(id).outputs[0]));
    }
    const ValueId value = node(id).outputs[0];
    if (isNarrow(m_rounding.rounds(value))) builder.round(value, m_rounding.rounds(value));
    const std::vector<NodeId> users = consumers(value);
    if (isFusedOutput(value) || users.empty() ||
        std::any_of(users.begin(), users.end(), [&](NodeId user) { return !group.contains(user); })) {
      results.push_back(value);
    }
  }
  const Dims domain = dimsOf(results[0]);
  TapeProgram program;
  builder.finish(program, results);
  std::vector<Ref> inputs;
  for (const TapeBuilder::Input& input : builder.inputs()) {
    inputs.push_back(TRY(tapeInput(input)));
    inputs.back().dims.insert(inputs.back().dims.end(), input.trailing, 1);
    inputs.back().strides.insert(inputs.back().strides.end(), input.trailing, 0);
  }
  const MemoryFormat format = tapeFormat(inputs, domain);
  program.extents = format.memoryExtents(domain);
  std::vector<BufferIndex> reads, writes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool whole = inputs[i].dims == domain;
    const bool sameFormat = whole && !format.isPlain();
    const bool isStrided = !sameFormat && inputs[i].format.isPlain();
    Ref input = isStrided ? inputs[i] : TRY(inFormat(inputs[i], sameFormat ? format : MemoryFormat()));
    const Dims strides = input.format.isPlain() ? format.memoryStrides(broadcastStrides(input, domain))
                                                : rowMajorStrides(program.extents);
    reads.push_back(input.buffer);
    program.inputs.push_back({std::move(input), strides, builder.inputs()[i].reg});
  }
  for (ValueId value : results) {
    Ref output = allocate(value, format, storedType(value));
    define(value, output);
    writes.push_back(output.buffer);
    program.outputs.push_back({std::move(output), rowMajorStrides(program.extents), builder.registerOf(value)});
  }
  m_implementations.push_back("pointwise");
  m_program.addStep(makePointwiseStep(std::move(program), m_threads), reads, writes);
  return Done{};
}

Result<Ref> Lowering::tapeInput(const TapeBuilder::Input& input) {
  using Part = TapeBuilder::Input::Part;
  switch (input.part) {
    case Part::Factor:
    case Part::Shift:
      return batchNormPart(node(input.norm), input.part == Part::Shift);
    case Part::Sums:
      return m_sums.at(input.norm).sums;
    case Part::SumScale:
      return m_sums.at(input.norm).scale;
    case Part::SumBias:
      return *m_sums.at(input.norm).bias;
    default:
      return seen(input.value);
  }
}

/// By one scale and one zero point, whichever codes `node` itself reads.
void Lowering::dequantize(const Node& node, const Ref& codes, const Ref& target) {
  const float zero = node.input(2).valid() ? constantNumber(node.input(2)).value_or(0) : 0;
  TapeProgram program{
      .extents = codes.dims, .numbers = {{1, zero}, {2, constantNumber(node.input(1)).value()}}, .registers = 5};
  program.inputs.push_back({codes, rowMajorStrides(codes.dims), 0});
  program.outputs.push_back({target, rowMajorStrides(codes.dims), 4});
  program.code = {{.op = TapeOp::Sub, .target = 3, .a = 0, .b = 1}, {.op = TapeOp::Mul, .target = 4, .a = 3, .b = 2}};
  m_implementations.emplace_back("pointwise");
  m_program.addStep(makePointwiseStep(std::move(program), m_threads), {codes.buffer}, {target.buffer});
}

Ref Lowering::scaled(const Ref& ref, float factor) {
  const Ref target = allocateScratch(DataType::F32, ref.dims);
  TapeProgram program{.extents = ref.dims, .numbers = {{1, factor}}, .registers = 3};
  program.inputs.push_back({ref, rowMajorStrides(ref.dims), 0});
  program.outputs.push_back({target, rowMajorStrides(ref.dims), 2});
  program.code = {{.op = TapeOp::Mul, .target = 2, .a = 0, .b = 1}};
  m_program.addStep(makePointwiseStep(std::move(program), m_threads), {ref.buffer}, {target.buffer});
  return target;
}

// y = x · (scale / √(variance + ε)) + (bias - mean · scale / √(variance + ε))
Ref Lowering::batchNormPart(const Node& norm, bool isShift) {
  std::vector<Weight> parameters;
  for (std::size_t i = 1; i < 5; ++i) parameters.push_back(weight(norm.input(i)));
  return packedRef({dimsOf(norm.input(0))[1]},
                   batchNormPacking(std::move(parameters), norm.floatAttribute("epsilon", 1e-5f), isShift));
}

}  // namespace fusescope::native
