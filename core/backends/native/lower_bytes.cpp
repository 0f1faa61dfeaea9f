#include <algorithm>

#include "backends/native/byte_batch_step.h"
#include "backends/native/byte_conv_step.h"
#include "backends/native/byte_product_step.h"
#include "backends/native/lowering.h"
#include "backends/native/requantize_step.h"
#include "base/hash.h"
#include "ops/support/matmul_support.h"
#include "ops/support/strided.h"

namespace fusescope::native {

/// Operands of a product of bytes: where they stand, and what is known of them. The second one is either weights, which
/// are packed once, or codes that lie in memory (`right`).
struct ByteOperands {
  std::size_t a = 0, aZero = 2, b = 1, bZero = 3;
  std::optional<Weight> weights;
  std::optional<Weight> weightZeros;
  bool turnedZerosAreZero = true;  ///< those of the weights, once the codes are turned (byte_matrix.h)
  Ref from, right;
  std::optional<Ref> zero, rightZeros;
  std::vector<BufferIndex> reads;
};

namespace {

bool requantises(const Node& node) {
  return node.is("QLinearMatMul") || node.is("QLinearConv");
}

bool isByteConv(const Node& node) {
  return node.is("ConvInteger") || node.is("QLinearConv");
}

/// `matrix` [n, k] as [k, n].
Weight transposed(const Weight& matrix) {
  return calculatedWeight(Node{.op = "Transpose"}, {matrix}, matrix.type, {matrix.dims[1], matrix.dims[0]});
}

/// Factors of a requantisation by channel, of the scales of x, w and y. In the order of operations of
/// the reference kernels, which differ.
Packing factorPacking(std::vector<Weight> scales, std::int64_t channels, bool conv) {
  KeyBuilder form;
  form.text("requantize factors").number(channels).number(conv);
  return packingOf(form.canonical(), std::move(scales),
                   [channels, conv](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = Tensor::zeros(DataType::F64, {channels});
                     const double x = numbers[0].asDouble(0), y = numbers[2].asDouble(0);
                     for (std::int64_t c = 0; c < channels; ++c) {
                       const double w = numbers[1].asDouble(numbers[1].count() == 1 ? 0 : c);
                       packed.mutableData<double>()[static_cast<std::size_t>(c)] = conv ? x / y * w : x * w / y;
                     }
                     return packed;
                   });
}

}  // namespace

Result<bool> Lowering::lowerBytes(const Node& node) {
  if (node.is("DynamicQuantizeLinear")) return lowerDynamicQuantize(node);
  if (!node.is("MatMulInteger") && !isByteConv(node) && !requantises(node)) return false;
  const auto operands = TRY(byteOperands(node));
  if (!operands || (requantises(node) && !canRequantize(node))) return false;
  const ValueId result = node.outputs[0];
  const Ref sums = requantises(node) ? allocateScratch(DataType::I32, dimsOf(result)) : allocate(result);
  isByteConv(node) ? emitByteConv(node, *operands, sums) : emitByteProduct(*operands, sums);
  ++m_integerRoots;
  if (requantises(node))
    emitRequantize(node, sums);
  else
    define(result, sums);
  return true;
}

Result<bool> Lowering::lowerDynamicQuantize(const Node& node) {
  const Ref x = TRY(plain(TRY(ref(node.input(0)))));
  std::vector<Ref> results;
  std::vector<BufferIndex> writes;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueId value = i < node.outputs.size() ? node.outputs[i] : ValueId();
    const bool wanted = value.valid() && m_request.values.contains(value);
    const DataType type = i == 1 ? DataType::F32 : DataType::U8;
    results.push_back(wanted ? allocate(value) : allocateScratch(type, i == 0 ? x.dims : Dims{}));
    if (wanted) define(value, results.back());
    writes.push_back(results.back().buffer);
  }
  m_implementations.emplace_back("dynamic_quantize");
  m_program.addStep(makeDynamicQuantizeStep(x, results[0], results[1], results[2], m_threads), {x.buffer}, writes);
  return true;
}

Result<std::optional<ByteOperands>> Lowering::byteOperands(const Node& node) {
  const std::optional<ByteOperands> none;
  ByteOperands operands;
  if (requantises(node)) operands.b = 3, operands.bZero = 5;
  const ValueId left = node.input(operands.a), right = node.input(operands.b), zero = node.input(operands.aZero);
  const Dims a = dimsOf(left), b = dimsOf(right);
  if (!isByteInteger(typeOf(left)) || !isByteInteger(typeOf(right)) || a.empty() || b.empty()) return none;
  for (const ValueId value : {left, right, node.outputs[0]})
    if (elementCount(dimsOf(value)) == 0) return none;
  if (zero.valid() && elementCount(dimsOf(zero)) != 1) return none;
  if (!areByteZeros(node, node.input(operands.bZero), right)) return none;
  const bool packed = takeByteWeights(node, operands);
  if (isByteConv(node)) {
    if (!packed || a.size() != 4) return none;
    const Window window = windowOf(node, a, dimsOf(node.outputs[0]), Dims(b.begin() + 2, b.end()));
    if (std::ranges::any_of(window.padBegin, [](std::int64_t pad) { return pad < 0; })) return none;
  }
  const auto read = [&](ValueId value) -> Result<Ref> {
    Ref at = TRY(plain(TRY(ref(value))));
    operands.reads.push_back(at.buffer);
    return at;
  };
  operands.from = TRY(read(left));
  if (zero.valid()) operands.zero = TRY(read(zero));
  if (packed) return std::optional(std::move(operands));
  operands.right = TRY(read(right));
  if (const ValueId zeros = node.input(operands.bZero); zeros.valid()) operands.rightZeros = TRY(read(zeros));
  return std::optional(std::move(operands));
}

/// Whether `zeros`, if any, are one for all of the second operand, or one for each of its filters or columns.
bool Lowering::areByteZeros(const Node& node, ValueId zeros, ValueId codes) const {
  if (!zeros.valid()) return true;
  const Dims dims = dimsOf(codes);
  const std::int64_t each = isByteConv(node) ? dims[0] : dims.size() > 1 ? dims.back() : 1;
  return dimsOf(zeros).size() <= 1 && (elementCount(dimsOf(zeros)) == 1 || elementCount(dimsOf(zeros)) == each);
}

/// Whether the second operand can be packed once: filters, or one matrix, that are constants.
bool Lowering::takeByteWeights(const Node& node, ByteOperands& operands) const {
  const ValueId codes = node.input(operands.b), zeros = node.input(operands.bZero);
  if (!isConstant(codes) || (zeros.valid() && !isConstant(zeros))) return false;
  if (!isByteConv(node) && dimsOf(codes).size() != 2) return false;
  const std::uint8_t turn = turnOfA(typeOf(codes));
  operands.turnedZerosAreZero = zeros.valid() ? areAll(*constant(zeros), turn) : turn == 0;
  operands.weights = weight(codes);
  if (zeros.valid()) operands.weightZeros = weight(zeros);
  return true;
}

void Lowering::emitByteProduct(const ByteOperands& operands, const Ref& sums) {
  if (!operands.weights) return emitByteBatch(operands, sums);
  m_implementations.emplace_back("byte_product");
  const Dims &a = operands.from.dims, &b = operands.weights->dims;
  const BufferIndex packed =
      m_program.addPacked(ByteMatrix::packing(*operands.weights, operands.weightZeros, b[0], b[1]));
  m_program.addStep(makeByteProductStep({.a = operands.from,
                                         .aZero = operands.zero,
                                         .matrix = ByteMatrix(b[0], b[1], packed),
                                         .sums = sums,
                                         .m = productOf(a, 0, a.size() - 1)},
                                        m_threads),
                    operands.reads, {sums.buffer});
}

/// Products of matrices that are both made while the network runs.
void Lowering::emitByteBatch(const ByteOperands& operands, const Ref& sums) {
  m_implementations.emplace_back("byte_product");
  const ops::MatMulExtents extents = ops::matmulExtents(operands.from.dims, operands.right.dims);
  ByteBatchCall call{.a = operands.from,
                     .b = operands.right,
                     .sums = sums,
                     .aZero = operands.zero,
                     .bZero = operands.rightZeros,
                     .m = extents.m,
                     .k = extents.k,
                     .n = extents.n};
  ops::forEachIndex(extents.batch, [&](const Dims& index) {
    call.batches.push_back({ops::offsetOf(index, extents.stridesA), ops::offsetOf(index, extents.stridesB)});
    return true;
  });
  m_program.addStep(makeByteBatchStep(std::move(call), m_threads), operands.reads, {sums.buffer});
}

void Lowering::emitByteConv(const Node& node, const ByteOperands& operands, const Ref& sums) {
  m_implementations.emplace_back("byte_conv");
  const Dims& filters = operands.weights->dims;
  m_program.addStep(
      makeByteConvStep(
          {.x = operands.from,
           .xZero = operands.zero,
           .filterDims = filters,
           .filters = m_program.addPacked(byteFilterPacking(*operands.weights, operands.weightZeros)),
           .filterZerosAreZero = operands.turnedZerosAreZero,
           .window = windowOf(node, operands.from.dims, sums.dims, Dims(filters.begin() + 2, filters.end())),
           .groups = node.intAttribute("group", 1),
           .sums = sums},
          m_threads),
      operands.reads, {sums.buffer});
}

/// What our own kernels multiply; the tapes behind them scale the sums and do the rest.
Status Lowering::lowerOwnQuantized(const QuantizedChain& chain) {
  const Node &root = node(chain.root), &dequantize = node(chain.weights);
  const bool conv = root.is("Conv");
  const Dims result = dimsOf(root.outputs[0]);
  const std::int64_t channels = conv ? result[1] : result.back();
  if (conv && !canConvolveBytes(root)) return lowerAsFloats(chain);
  ByteOperands operands;
  operands.weights = weight(dequantize.input(0));
  if (root.intAttribute("transB", 0) != 0) operands.weights = transposed(*operands.weights);
  operands.turnedZerosAreZero = weightsAreSymmetric(chain);
  if (dequantize.input(2).valid()) operands.weightZeros = weight(dequantize.input(2));
  operands.from = TRY(plain(TRY(ref(chain.source))));
  if (!conv) operands.from.dims = dimsOf(root.input(0));
  if (chain.sourceScale.zero != 0) operands.zero = zeroOf(chain.sourceScale);
  operands.reads = {operands.from.buffer};
  const Ref sums = allocateScratch(DataType::I32, result);
  conv ? emitByteConv(root, operands, sums) : emitByteProduct(operands, sums);
  ScaledSums scaled{.sums = sums, .scale = packedRef({channels}, quantizedScales(chain, {}))};
  if (root.input(2).valid()) scaled.bias = packedRef({channels}, quantizedBias(chain, {root.input(2)}, {}));
  m_sums.emplace(chain.root, std::move(scaled));
  m_pending.push_back(chain.root);
  leaveQuantized(chain, 0);
  ++m_integerRoots;
  return Done{};
}

Status Lowering::lowerOwnProductOfCodes(const QuantizedChain& chain) {
  const Node& root = node(chain.root);
  const Ref sums = allocateScratch(DataType::I32, dimsOf(root.outputs[0]));
  ByteOperands operands{.from = TRY(plain(TRY(ref(chain.source)))), .right = TRY(plain(TRY(ref(chain.right))))};
  operands.from.dims = dimsOf(root.input(0));
  operands.right.dims = dimsOf(root.input(1));
  if (chain.sourceScale.zero != 0) operands.zero = zeroOf(chain.sourceScale);
  if (chain.rightScale.zero != 0) operands.rightZeros = zeroOf(chain.rightScale);
  operands.reads = {operands.from.buffer, operands.right.buffer};
  emitByteBatch(operands, sums);
  m_sums.emplace(chain.root, ScaledSums{.sums = sums, .scale = packedRef({1}, quantizedScales(chain, {})), .bias = {}});
  m_pending.push_back(chain.root);
  leaveQuantized(chain, 0);
  ++m_integerRoots;
  return Done{};
}

/// A zero point as a kernel reads it.
Ref Lowering::zeroOf(const CodeScale& codes) {
  const Tensor zero = Tensor::scalar(codes.zero).converted(codes.type);
  return {.buffer = m_program.addTable(zero), .dtype = codes.type};
}

bool Lowering::canConvolveBytes(const Node& root) const {
  const Dims from = dimsOf(root.input(0)), filters = dimsOf(root.input(1));
  if (from.size() != 4) return false;
  const Window window = windowOf(root, from, dimsOf(root.outputs[0]), Dims(filters.begin() + 2, filters.end()));
  return std::ranges::none_of(window.padBegin, [](std::int64_t pad) { return pad < 0; });
}

/// By the float kernels, which give what the plan says, and no more speed than they have.
Status Lowering::lowerAsFloats(const QuantizedChain& chain) {
  for (const NodeId id : m_fused.nodes) {
    const bool isThere = isDefined(node(id).outputs[0]);
    if (!chain.absorbed.contains(id) || isThere) continue;
    if (isPointwise(node(id))) {
      TRY(emitTape({id}));
    } else {
      TRY(lowerView(node(id)));
    }
  }
  const Node& root = node(chain.root);
  const Chain alone{.root = root.id, .nodes = {root.id}, .result = root.outputs[0]};
  TRY(root.is("MatMul") || root.is("Gemm") ? lowerMatMul(alone) : lowerConv(alone));
  leaveQuantized(chain, 0);
  return Done{};
}

/// How many sums may each have a factor of their own: filters, or columns of the second operand.
std::int64_t Lowering::requantizedChannels(const Node& node) const {
  const Dims weights = dimsOf(node.input(3));
  return isByteConv(node) ? weights[0] : weights.size() > 1 ? weights.back() : 1;
}

// Inputs of the QLinear operators: x, its scale and zero, w, its scale and zero, scale and zero of y, and the bias.
bool Lowering::canRequantize(const Node& node) const {
  const std::int64_t channels = requantizedChannels(node);
  for (const std::size_t input : {1, 4, 6, 7}) {
    if (!isConstant(node.input(input))) return false;
    const Dims dims = dimsOf(node.input(input));
    const bool each = input == 4 && dims.size() == 1 && dims[0] == channels;
    if (elementCount(dims) != 1 && !each) return false;
  }
  return isByteInteger(typeOf(node.outputs[0])) && (!node.input(8).valid() || isConstant(node.input(8)));
}

void Lowering::emitRequantize(const Node& node, const Ref& sums) {
  const bool conv = isByteConv(node);
  const std::int64_t channels = requantizedChannels(node);
  RequantizeCall call{.sums = sums,
                      .codes = allocate(node.outputs[0]),
                      .channels = channels,
                      .inner = conv            ? productOf(sums.dims, 2)
                               : channels == 1 ? sums.count()
                                               : 1,
                      .factors = m_program.addPacked(factorPacking(
                          {weight(node.input(1)), weight(node.input(4)), weight(node.input(6))}, channels, conv))};
  if (node.input(8).valid()) call.bias = m_program.addPacked(plainPacking(weight(node.input(8)), DataType::I32));
  call.zero = static_cast<std::int32_t>(constantNumber(node.input(7)).value_or(0));
  const Ref codes = call.codes;
  define(node.outputs[0], codes);
  m_program.addStep(makeRequantizeStep(std::move(call), m_threads), {sums.buffer}, {codes.buffer});
}

}  // namespace fusescope::native
