#include "backends/native/lowering/quantized_parts.h"

#include <algorithm>

#include "backends/finite_constants.h"
#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/lowering/epilogue_chain.h"
#include "backends/native/lowering/post_operations.h"
#include "base/hash.h"

namespace fusescope::native {

using dnnl::memory;

namespace {

/// Returns the layout of one number for each channel of a result of extents `target`, which is an operand that is
/// broadcast.
memory::desc alongChannels(const Node& root, const Dims& target) {
  Dims dims(target.size(), 1);
  const std::size_t axis = isConvolution(root) ? 1 : target.size() - 1;
  dims[axis] = target[axis];
  return memory::desc(dims, memory::data_type::f32, rowMajorStrides(dims));
}

/// Describes the compensations that packed weights contain in addition to their blocks.
std::string formOfScale(const CodeScale& source) {
  return KeyBuilder().text(name(source.type)).number(source.zero != 0).canonical();
}

Tensor zeroTensor(float zero) {
  const auto number = static_cast<std::int32_t>(zero);
  return Tensor::copyOf<std::int32_t>(DataType::I32, {1}, std::span(&number, 1));
}

/// Returns whether a constant may cause a sum to be NaN.
bool mayHoldNaN(const Context& context, ValueId constant) {
  if (!constant.valid()) return false;
  return std::ranges::any_of(context.rawWeight(constant).weightSlots, [&](std::size_t slot) {
    return mayBeNotFinite(context.request().constants.at(context.request().weightSlots[slot]));
  });
}

// Returns the unit of the first step of the epilogue that needs a unit.
ValueId firstUnit(const Context& context, const QuantizedChain& chain) {
  using Kind = QuantizedChain::Kind;
  for (const QuantizedChain::Operation& operation : chain.operations) {
    if (operation.kind == Kind::Round || operation.kind == Kind::Residual)
      return operation.codes ? operation.codes->scale : ValueId();
    const Node& at = context.node(operation.nodes.front());
    if (operation.kind == Kind::Activation && !at.is("Relu") && !at.is("Clip")) return {};
  }
  return chain.result ? chain.result->codes->scale : ValueId();
}

}  // namespace

dnnl::primitive_attr QuantizedParts::attributes(const CodeScale& source, int scaleMask) const {
  dnnl::primitive_attr attributes = userScratchpad(epilogue.operations());
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, scaleMask);
  if (source.zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (result && result->zero != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attributes;
}

bool weightsAreSymmetric(const Context& context, const QuantizedChain& chain) {
  const Node& dequantize = context.node(chain.weights);
  const ValueId zero = dequantize.input(2);
  const double middle = context.constantType(dequantize.input(0)) == DataType::U8 ? 128 : 0;
  return zero.valid() ? areAll(*context.constant(zero), middle) : middle == 0;
}

memory::desc perChannel(std::int64_t channels) {
  return memory::desc({channels}, memory::data_type::f32, memory::format_tag::a);
}

Packing packCodes(Weight codes, const memory::desc& held, const memory::desc& target, const CodeScale& source) {
  return packingOf("codes " + formOfScale(source) + formatKey(held) + formatKey(target), {std::move(codes)},
                   [held, target](std::span<const Tensor> numbers) -> Result<Tensor> {
                     if (numbers[0].type() == DataType::I8) return reordered(numbers[0].bytes(), held, target);
                     Tensor turned = Tensor::zeros(DataType::I8, numbers[0].dims());
                     const auto from = numbers[0].data<std::uint8_t>();
                     std::ranges::transform(from, turned.mutableData<std::int8_t>().begin(), [](std::uint8_t code) {
                       return static_cast<std::int8_t>(code ^ kSignFlip);
                     });
                     return reordered(turned.bytes(), held, target);
                   });
}

/// Packs the scales of the sums, one for each channel, or a single one if the second operand is no constant.
Packing quantizedScales(const Context& context, const QuantizedChain& chain, ValueId unit) {
  const Node& root = context.node(chain.root);
  const std::int64_t channels = chain.right.valid() ? 1 : channelsOf(root, context.dimsOf(root.outputs[0]));
  std::vector<Weight> scales = {context.weight(chain.sourceScale.scale),
                                context.weight(context.node(chain.weights).input(1))};
  if (unit.valid()) scales.push_back(context.weight(unit));
  return packingOf(KeyBuilder().text("scales of sums").number(channels).canonical(), std::move(scales),
                   [channels](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = Tensor::zeros(DataType::F32, {channels});
                     const double unit = numbers.size() > 2 ? numbers[2].asDouble(0) : 1;
                     for (std::int64_t c = 0; c < channels; ++c) {
                       const double each = numbers[1].asDouble(numbers[1].count() == 1 ? 0 : c);
                       packed.mutableData<float>()[static_cast<std::size_t>(c)] =
                           static_cast<float>(numbers[0].asDouble(0) * each / unit);
                     }
                     return packed;
                   });
}

Packing quantizedBias(const Context& context, const QuantizedChain& chain, const std::vector<ValueId>& biases,
                      ValueId unit) {
  const Node& root = context.node(chain.root);
  const std::int64_t channels = channelsOf(root, context.dimsOf(root.outputs[0]));
  std::vector<Weight> weights;
  for (const ValueId bias : biases) weights.push_back(context.weight(bias));
  if (unit.valid()) weights.push_back(context.weight(unit));
  const std::string form = KeyBuilder().text("bias of sums").number(channels).number(biases.size()).canonical();
  return packingOf(form, std::move(weights),
                   [channels, count = biases.size()](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = Tensor::zeros(DataType::F32, {channels});
                     const double unit = numbers.size() > count ? numbers[count].asDouble(0) : 1;
                     for (std::int64_t c = 0; c < channels; ++c) {
                       double sum = 0;
                       for (std::size_t i = 0; i < count; ++i)
                         sum += numbers[i].asDouble(numbers[i].count() == 1 ? 0 : c);
                       packed.mutableData<float>()[static_cast<std::size_t>(c)] = static_cast<float>(sum / unit);
                     }
                     return packed;
                   });
}

QuantizedParts foldQuantized(const Context& context, const QuantizedChain& chain, const Dims& target,
                             const MemoryFormat& format) {
  using Kind = QuantizedChain::Kind;
  const Node& root = context.node(chain.root);
  const auto number = [&](ValueId value) { return context.constantNumber(value); };
  const ValueId unit = firstUnit(context, chain);
  QuantizedParts parts{
      .epilogue = QuantizedEpilogue(unit, [&](ValueId v) { return context.constantNumber(v).value_or(1); }),
      .unit = unit,
      .addendDesc = alongChannels(root, target),
      .value = root.outputs[0]};
  if (root.input(2).valid()) parts.biases.push_back(root.input(2));
  // Products of codes are never NaN. A residual of floats, or a constant, may contain NaN; our own tapes preserve it.
  bool areNumbers = !mayHoldNaN(context, root.input(2)) && !mayHoldNaN(context, chain.sourceScale.scale) &&
                    !mayHoldNaN(context, context.node(chain.weights).input(1));
  for (const QuantizedChain::Operation& operation : chain.operations) {
    const bool isActivation = operation.kind == Kind::Activation;
    const bool maySaturate =
        operation.kind == Kind::Round || (isActivation && mayLoseNumbers(context.node(operation.nodes[0])));
    if (!areNumbers && maySaturate) break;
    if (isActivation && !parts.epilogue.activate(context.node(operation.nodes[0]), number)) break;
    if (operation.kind == Kind::Residual && !operation.codes) areNumbers = false;
    if (operation.kind == Kind::Bias && mayHoldNaN(context, operation.operand)) areNumbers = false;
    if (operation.kind == Kind::Bias && parts.included == 0 && !chain.right.valid()) {
      parts.biases.push_back(operation.operand);
    } else if (operation.kind == Kind::Bias) {
      parts.epilogue.addInUnits(parts.addendDesc);
      parts.addends.push_back({parts.epilogue.lastArgument(), operation.operand, parts.epilogue.unit()});
    }
    if (operation.kind == Kind::Round) parts.epilogue.round(*operation.codes);
    if (operation.kind == Kind::Residual) {
      const DataType type = operation.codes ? operation.codes->type : DataType::F32;
      const memory::desc operand = *dnnlDesc({type, target, format});
      operation.codes ? parts.epilogue.addCodes(*operation.codes, operand) : parts.epilogue.addNumbers(operand);
      parts.residuals.emplace_back(parts.epilogue.lastArgument(), operation.operand);
    }
    parts.value = context.node(operation.nodes.back()).outputs[0];
    ++parts.included;
  }
  // Depending on the kernel, oneDNN stores NaN as the smallest or as the largest code.
  if (chain.result && areNumbers && parts.included == chain.operations.size()) {
    parts.result = chain.result->codes;
    parts.value = context.node(chain.last).outputs[0];
  }
  parts.epilogue.finish(parts.result);
  return parts;
}

void addQuantizedArguments(Context& context, const QuantizedChain& chain, const QuantizedParts& parts,
                           std::vector<DnnlStep::Argument>& arguments) {
  const Node& root = context.node(chain.root);
  const memory::desc scales = perChannel(chain.right.valid() ? 1 : channelsOf(root, context.dimsOf(root.outputs[0])));
  for (const QuantizedParts::Addend& addend : parts.addends)
    arguments.push_back({addend.argument, parts.addendDesc,
                         context.program().addPacked(quantizedBias(context, chain, {addend.value}, addend.unit))});
  arguments.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales,
                       context.program().addPacked(quantizedScales(context, chain, parts.unit))});
  addZeroPoint(context, DNNL_ARG_SRC, chain.sourceScale.zero, arguments);
  if (parts.result) addZeroPoint(context, DNNL_ARG_DST, parts.result->zero, arguments);
}

/// Adds the zero point of the argument `of`, unless it is 0.
void addZeroPoint(Context& context, int of, float zero, std::vector<DnnlStep::Argument>& arguments) {
  if (zero == 0) return;
  arguments.push_back({DNNL_ARG_ATTR_ZERO_POINTS | of, memory::desc({1}, memory::data_type::s32, memory::format_tag::a),
                       context.program().addTable(zeroTensor(zero))});
}

/// Queues the nodes behind the first `included` operations, which tapes calculate.
void leaveQuantized(Context& context, const QuantizedChain& chain, std::size_t included) {
  for (std::size_t i = included; i < chain.operations.size(); ++i) context.queue(chain.operations[i].nodes);
  if (chain.result) context.queue(chain.last);
}

}  // namespace fusescope::native
