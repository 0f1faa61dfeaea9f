#include <algorithm>

#include "backends/finite_constants.h"
#include "backends/native/byte_matrix.h"
#include "backends/native/lowering.h"
#include "backends/native/post_operations.h"
#include "backends/native/quantized_parts.h"
#include "backends/native/turn_step.h"
#include "backends/native/window.h"
#include "base/hash.h"

// The primitives that multiply codes.
namespace fusescope::native {

using dnnl::memory;

namespace {

bool isConvolution(const Node& root) {
  return root.is("Conv") || root.is("ConvTranspose");
}

std::int64_t channelsOf(const Node& root, const Dims& result) {
  return isConvolution(root) ? result[1] : result.back();
}

memory::desc perChannel(std::int64_t channels) {
  return memory::desc({channels}, memory::data_type::f32, memory::format_tag::a);
}

/// A number for each channel of a result of extents `target`, as an operand that broadcasts.
memory::desc alongChannels(const Node& root, const Dims& target) {
  Dims dims(target.size(), 1);
  const std::size_t axis = isConvolution(root) ? 1 : target.size() - 1;
  dims[axis] = target[axis];
  return memory::desc(dims, memory::data_type::f32, rowMajorStrides(dims));
}

/// Weights of int8, or of uint8 less 128, that lie as `held` says.
Packing packCodes(Weight codes, const memory::desc& held, const memory::desc& target, const std::string& form) {
  return packingOf("codes " + form + formatKey(held) + formatKey(target), {std::move(codes)},
                   [held, target](std::span<const Tensor> numbers) -> Result<Tensor> {
                     if (numbers[0].type() == DataType::I8) return reordered(numbers[0].bytes(), held, target);
                     Tensor turned = Tensor::zeros(DataType::I8, numbers[0].dims());
                     const auto from = numbers[0].data<std::uint8_t>();
                     std::ranges::transform(from, turned.mutableData<std::int8_t>().begin(), [](std::uint8_t code) {
                       return static_cast<std::int8_t>(code ^ kByteTurn);
                     });
                     return reordered(turned.bytes(), held, target);
                   });
}

/// What compensations weights carry besides their blocks.
std::string formOf(const CodeScale& source) {
  return KeyBuilder().text(name(source.type)).number(source.zero != 0).canonical();
}

Tensor zeroTensor(float zero) {
  const auto number = static_cast<std::int32_t>(zero);
  return Tensor::copyOf<std::int32_t>(DataType::I32, {1}, std::span(&number, 1));
}

/// The matrix [rows, columns] as which a product without batches sees `ref`, which is row-major.
Ref asMatrix(Ref ref, std::int64_t columns) {
  ref.dims = {ref.count() / columns, columns};
  ref.strides = rowMajorStrides(ref.dims);
  return ref;
}

}  // namespace

dnnl::primitive_attr QuantizedParts::attributes(const CodeScale& source, int scaleMask) const {
  dnnl::primitive_attr attributes = userScratchpad(epilogue.operations());
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, scaleMask);
  if (source.zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (result && result->zero != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attributes;
}

bool Lowering::canMultiplyCodes(const QuantizedChain& chain) const {
  const Node &root = node(chain.root), &dequantize = node(chain.weights);
  const Dims source = dimsOf(root.input(0)), weights = dimsOf(dequantize.input(0)), result = dimsOf(root.outputs[0]);
  if (elementCount(source).value_or(0) == 0 || elementCount(result).value_or(0) == 0) return false;
  const bool conv = isConvolution(root), turned = root.intAttribute("transB", 0) != 0;
  if (chain.right.valid()) return source.size() >= 2 && weights.size() >= 2;
  if (conv ? source.size() < 3 || source.size() > 5 : source.size() < 2 || weights.size() != 2) return false;
  if (root.is("ConvTranspose") && root.intAttribute("group", 1) != 1) return false;
  const std::int64_t channels = channelsOf(root, result);
  if (root.input(2).valid() && elementCount(dimsOf(root.input(2))) != channels) return false;
  const bool plainGemm = root.intAttribute("transA", 0) == 0 && root.floatAttribute("alpha", 1.0f) == 1.0f &&
                         root.floatAttribute("beta", 1.0f) == 1.0f;
  if (!plainGemm) return false;
  const std::size_t axis = root.is("Conv") || turned ? 0 : 1;
  const bool along = positiveAxis(dequantize.intAttribute("axis", 1), weights.size()) == axis;
  return elementCount(dimsOf(dequantize.input(1))) == 1 || along;
}

bool Lowering::weightsAreSymmetric(const QuantizedChain& chain) const {
  const Node& dequantize = node(chain.weights);
  const ValueId zero = dequantize.input(2);
  const double middle = constantType(dequantize.input(0)) == DataType::U8 ? 128 : 0;
  return zero.valid() ? areAll(*constant(zero), middle) : middle == 0;
}

/// Whether a constant may be the reason that a sum is NaN.
bool Lowering::mayHoldNaN(ValueId constant) const {
  if (!constant.valid()) return false;
  return std::ranges::any_of(rawWeight(constant).weightSlots, [&](std::size_t slot) {
    return mayBeNotFinite(m_request.constants.at(m_request.weightSlots[slot]));
  });
}

/// A scale for each channel; one where the second operand is no constant.
Packing Lowering::quantizedScales(const QuantizedChain& chain, ValueId unit) const {
  const Node& root = node(chain.root);
  const std::int64_t channels = chain.right.valid() ? 1 : channelsOf(root, dimsOf(root.outputs[0]));
  std::vector<Weight> scales = {weight(chain.sourceScale.scale), weight(node(chain.weights).input(1))};
  if (unit.valid()) scales.push_back(weight(unit));
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

Packing Lowering::quantizedBias(const QuantizedChain& chain, const std::vector<ValueId>& biases, ValueId unit) const {
  const Node& root = node(chain.root);
  const std::int64_t channels = channelsOf(root, dimsOf(root.outputs[0]));
  std::vector<Weight> weights;
  for (const ValueId bias : biases) weights.push_back(weight(bias));
  if (unit.valid()) weights.push_back(weight(unit));
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

QuantizedParts Lowering::foldQuantized(const QuantizedChain& chain, const Dims& target,
                                       const MemoryFormat& format) const {
  using Kind = QuantizedChain::Kind;
  const Node& root = node(chain.root);
  const auto number = [this](ValueId value) { return constantNumber(value); };
  const ValueId unit = firstUnit(chain);
  QuantizedParts parts{.epilogue = QuantizedEpilogue(unit, [this](ValueId v) { return constantNumber(v).value_or(1); }),
                       .unit = unit,
                       .addendDesc = alongChannels(root, target),
                       .value = root.outputs[0]};
  if (root.input(2).valid()) parts.biases.push_back(root.input(2));
  // Products of codes are numbers. A residual of floats may hold NaN, and so may a constant; our own tapes keep it.
  bool areNumbers =
      !mayHoldNaN(root.input(2)) && !mayHoldNaN(chain.sourceScale.scale) && !mayHoldNaN(node(chain.weights).input(1));
  for (const QuantizedChain::Operation& operation : chain.operations) {
    const bool isActivation = operation.kind == Kind::Activation;
    const bool maySaturate =
        operation.kind == Kind::Round || (isActivation && mayLoseNumbers(node(operation.nodes[0])));
    if (!areNumbers && maySaturate) break;
    if (isActivation && !parts.epilogue.activate(node(operation.nodes[0]), number)) break;
    if (operation.kind == Kind::Residual && !operation.codes) areNumbers = false;
    if (operation.kind == Kind::Bias && mayHoldNaN(operation.operand)) areNumbers = false;
    if (operation.kind == Kind::Bias && parts.taken == 0 && !chain.right.valid()) {
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
    parts.value = node(operation.nodes.back()).outputs[0];
    ++parts.taken;
  }
  // oneDNN stores NaN as the least or the greatest code, by kernels.
  if (chain.result && areNumbers && parts.taken == chain.operations.size()) {
    parts.result = chain.result->codes;
    parts.value = node(chain.last).outputs[0];
  }
  parts.epilogue.finish(parts.result);
  return parts;
}

void Lowering::addQuantizedArguments(const QuantizedChain& chain, const QuantizedParts& parts,
                                     std::vector<DnnlStep::Argument>& arguments) {
  const Node& root = node(chain.root);
  const memory::desc scales = perChannel(chain.right.valid() ? 1 : channelsOf(root, dimsOf(root.outputs[0])));
  for (const QuantizedParts::Addend& addend : parts.addends)
    arguments.push_back(
        {addend.argument, parts.addendDesc, m_program.addPacked(quantizedBias(chain, {addend.value}, addend.unit))});
  arguments.push_back(
      {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales, m_program.addPacked(quantizedScales(chain, parts.unit))});
  addZeroPoint(DNNL_ARG_SRC, chain.sourceScale.zero, arguments);
  if (parts.result) addZeroPoint(DNNL_ARG_DST, parts.result->zero, arguments);
}

/// Of the argument `of`, unless it is 0.
void Lowering::addZeroPoint(int of, float zero, std::vector<DnnlStep::Argument>& arguments) {
  if (zero == 0) return;
  arguments.push_back({DNNL_ARG_ATTR_ZERO_POINTS | of, memory::desc({1}, memory::data_type::s32, memory::format_tag::a),
                       m_program.addTable(zeroTensor(zero))});
}

namespace {

/// What a convolution of codes is prepared from, and what it came to.
struct CodeConv {
  bool transposed = false;
  Dims held;  ///< extents of the weights as oneDNN sees them
  Window window;
  memory::desc from, bias, to;
  dnnl::primitive_attr attributes;

  struct Described {
    std::function<dnnl::primitive()> make;
    memory::desc weights, scratchpad;
    std::string implementation;
  };
  template <class Forward>
  Described described(dnnl::algorithm algorithm) const {
    Dims dilations = window.dilations;
    for (std::int64_t& dilation : dilations) --dilation;
    const typename Forward::primitive_desc description(
        dnnlEngine(), dnnl::prop_kind::forward_inference, algorithm, from,
        memory::desc(held, memory::data_type::s8, memory::format_tag::any), bias, to, window.strides, dilations,
        window.padBegin, window.padEnd, attributes);
    return {[description] { return Forward(description); }, description.weights_desc(), description.scratchpad_desc(),
            description.impl_info_str()};
  }
  Described described() const {
    return transposed ? described<dnnl::deconvolution_forward>(dnnl::algorithm::deconvolution_direct)
                      : described<dnnl::convolution_forward>(dnnl::algorithm::convolution_direct);
  }
  /// Weights as ONNX holds them, with oneDNN's axes.
  memory::desc heldDesc() const {
    if (!transposed) return memory::desc(held, memory::data_type::s8, rowMajorStrides(held));
    Dims turned = held;
    std::swap(turned[0], turned[1]);
    Dims strides = rowMajorStrides(turned);
    std::swap(strides[0], strides[1]);
    return memory::desc(held, memory::data_type::s8, strides);
  }
};

/// Extents of the weights with the groups in front, outputs before inputs.
Dims heldDims(const Node& root, Dims dims) {
  if (root.is("ConvTranspose")) std::swap(dims[0], dims[1]);
  const std::int64_t groups = root.intAttribute("group", 1);
  if (groups == 1) return dims;
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return dims;
}

/// oneDNN 3.2's kernels of vectors of 32 bytes read operands of the epilogue wrongly where channels fill none.
bool misreadsOperands(const std::string& implementation, const QuantizedParts& parts, std::int64_t channels) {
  const bool reads = !parts.residuals.empty() || !parts.addends.empty();
  return implementation.starts_with("jit_uni_int8") && reads && channels % 8 != 0;
}

}  // namespace

// Channels are last: what integer convolutions are written for.
Result<bool> Lowering::lowerQuantizedConv(const QuantizedChain& chain) {
  const Node& root = node(chain.root);
  const Dims source = dimsOf(root.input(0)), target = dimsOf(root.outputs[0]);
  const Weight codes = weight(node(chain.weights).input(0));
  const Dims kernel(codes.dims.begin() + 2, codes.dims.end());
  const bool transposed = root.is("ConvTranspose");
  const MemoryFormat format = MemoryFormat::channelsLast(source.size());
  QuantizedParts parts = foldQuantized(chain, target, format);
  const CodeConv conv{
      .transposed = transposed,
      .held = heldDims(root, codes.dims),
      .window = transposed ? transposedWindowOf(root, source, target, kernel) : windowOf(root, source, target, kernel),
      .from = *dnnlDesc({chain.sourceScale.type, source, format}),
      .bias = parts.biases.empty() ? memory::desc() : perChannel(target[1]),
      .to = *dnnlDesc({parts.type(), target, format}),
      .attributes = parts.attributes(chain.sourceScale, root.intAttribute("group", 1) > 1 ? 3 : 1)};
  if (std::ranges::any_of(conv.window.padBegin, [](std::int64_t pad) { return pad < 0; })) return false;
  const auto described = ifImplemented([&] { return conv.described(); });
  if (!described || described->implementation.starts_with("ref") ||
      misreadsOperands(described->implementation, parts, target[1]))
    return false;
  const CodeConv::Described& description = *described;
  if (!m_convFormats) m_convFormats = ConvFormats{chain.source, target, format, format};
  const Ref given = TRY(inFormat(TRY(ref(chain.source)), format));
  const Ref result = allocate(parts.value, format);
  std::vector<BufferIndex> reads = {given.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, conv.from, given),
                                               argumentAt(DNNL_ARG_DST, conv.to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(inFormat(TRY(ref(value)), format));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, *dnnlDesc({residual.dtype, target, format}), residual));
  }
  arguments.push_back(
      {DNNL_ARG_WEIGHTS, description.weights,
       m_program.addPacked(packCodes(codes, conv.heldDesc(), description.weights, formOf(chain.sourceScale)))});
  if (!parts.biases.empty())
    arguments.push_back(
        {DNNL_ARG_BIAS, conv.bias, m_program.addPacked(quantizedBias(chain, parts.biases, parts.unit))});
  addQuantizedArguments(chain, parts, arguments);
  m_implementations.push_back("conv:" + description.implementation);
  dnnl::primitive primitive = m_options.probe ? dnnl::primitive() : description.make();
  m_program.addStep(std::make_unique<DnnlStep>(std::move(primitive), std::move(arguments), description.scratchpad),
                    reads, {result.buffer});
  define(parts.value, result);
  ++m_integerRoots;
  if (parts.value != node(chain.last).outputs[0]) leaveQuantized(chain, parts.taken);
  return true;
}

Result<bool> Lowering::lowerQuantizedProduct(const QuantizedChain& chain) {
  const Node& root = node(chain.root);
  const Weight codes = weight(node(chain.weights).input(0));
  const bool turned = root.intAttribute("transB", 0) != 0;
  const std::int64_t k = codes.dims[turned ? 1 : 0], n = codes.dims[turned ? 0 : 1];
  const Dims target = {productOf(dimsOf(root.outputs[0]), 0) / n, n};
  QuantizedParts parts = foldQuantized(chain, target, MemoryFormat());
  const auto matrix = [](DataType type, const Dims& dims) {
    return memory::desc(dims, *dnnlType(type), rowMajorStrides(dims));
  };
  const memory::desc from = matrix(chain.sourceScale.type, {target[0], k}), to = matrix(parts.type(), target);
  const memory::desc bias = matrix(DataType::F32, {1, n});
  const memory::desc weights({k, n}, memory::data_type::s8, memory::format_tag::any);
  const dnnl::primitive_attr attributes = parts.attributes(chain.sourceScale, n == 1 ? 0 : 2);
  const auto described = ifImplemented([&] {
    return parts.biases.empty() ? dnnl::matmul::primitive_desc(dnnlEngine(), from, weights, to, attributes)
                                : dnnl::matmul::primitive_desc(dnnlEngine(), from, weights, bias, to, attributes);
  });
  if (!described || std::string(described->impl_info_str()).starts_with("ref")) return false;
  const dnnl::matmul::primitive_desc& description = *described;
  const Ref given = asMatrix(TRY(plain(TRY(ref(chain.source)))), k);
  const Ref result = allocate(parts.value);
  std::vector<BufferIndex> reads = {given.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, from, given),
                                               argumentAt(DNNL_ARG_DST, to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(plain(TRY(ref(value))));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, matrix(residual.dtype, target), residual));
  }
  const memory::desc held({k, n}, memory::data_type::s8, turned ? Dims{1, k} : Dims{n, 1});
  const memory::desc packed = description.weights_desc();
  arguments.push_back(
      {DNNL_ARG_WEIGHTS, packed, m_program.addPacked(packCodes(codes, held, packed, formOf(chain.sourceScale)))});
  if (!parts.biases.empty())
    arguments.push_back({DNNL_ARG_BIAS, bias, m_program.addPacked(quantizedBias(chain, parts.biases, parts.unit))});
  emitQuantizedProduct(chain, parts, description, std::move(arguments), reads, result);
  return true;
}

/// The product as a step; `arguments` are its operands, those of its epilogue come to them.
void Lowering::emitQuantizedProduct(const QuantizedChain& chain, const QuantizedParts& parts,
                                    const dnnl::matmul::primitive_desc& description,
                                    std::vector<DnnlStep::Argument> arguments, const std::vector<BufferIndex>& reads,
                                    const Ref& result) {
  addQuantizedArguments(chain, parts, arguments);
  m_implementations.push_back(std::string("matmul:") + description.impl_info_str());
  dnnl::primitive primitive = m_options.probe ? dnnl::primitive() : dnnl::matmul(description);
  m_program.addStep(
      std::make_unique<DnnlStep>(std::move(primitive), std::move(arguments), description.scratchpad_desc()), reads,
      {result.buffer});
  define(parts.value, result);
  ++m_integerRoots;
  if (parts.value != node(chain.last).outputs[0]) leaveQuantized(chain, parts.taken);
}

/// Codes of the second operand, which oneDNN takes signed only.
Result<Ref> Lowering::signedCodes(const Ref& codes) {
  const Ref source = TRY(plain(codes));
  if (source.dtype == DataType::I8) return source;
  const Ref target = allocateScratch(DataType::I8, source.dims);
  m_program.addStep(makeTurnStep(source, target, m_threads), {source.buffer}, {target.buffer});
  return target;
}

Result<bool> Lowering::lowerProductOfCodes(const QuantizedChain& chain) {
  const Node& root = node(chain.root);
  const Dims left = dimsOf(root.input(0)), right = dimsOf(root.input(1)), target = dimsOf(root.outputs[0]);
  const bool broadcasts = left.size() != right.size() || !std::equal(left.begin(), left.end() - 2, right.begin());
  if (target.size() > 6 || broadcasts) return false;
  QuantizedParts parts = foldQuantized(chain, target, MemoryFormat());
  if (!parts.biases.empty()) return false;
  const float zero = chain.rightScale.zero - (chain.rightScale.type == DataType::U8 ? 128.0f : 0.0f);
  dnnl::primitive_attr attributes = parts.attributes(chain.sourceScale, 0);
  if (zero != 0) attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  const memory::desc from = *dnnlDesc({chain.sourceScale.type, left, {}}), to = *dnnlDesc({parts.type(), target, {}});
  const memory::desc other = *dnnlDesc({DataType::I8, right, {}});
  const auto described =
      ifImplemented([&] { return dnnl::matmul::primitive_desc(dnnlEngine(), from, other, to, attributes); });
  if (!described || std::string(described->impl_info_str()).starts_with("ref")) return false;
  const dnnl::matmul::primitive_desc& description = *described;
  const Ref a = TRY(plain(TRY(ref(chain.source)))), b = TRY(signedCodes(TRY(ref(chain.right))));
  const Ref result = allocate(parts.value);
  std::vector<BufferIndex> reads = {a.buffer, b.buffer};
  std::vector<DnnlStep::Argument> arguments = {
      argumentAt(DNNL_ARG_SRC, from, a), argumentAt(DNNL_ARG_WEIGHTS, other, b), argumentAt(DNNL_ARG_DST, to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(plain(TRY(ref(value))));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, *dnnlDesc({residual.dtype, target, {}}), residual));
  }
  addZeroPoint(DNNL_ARG_WEIGHTS, zero, arguments);
  emitQuantizedProduct(chain, parts, description, std::move(arguments), reads, result);
  return true;
}

}  // namespace fusescope::native
