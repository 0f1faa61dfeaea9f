#include <algorithm>

#include "backends/native/lowering/quantized_kernels.h"
#include "backends/native/lowering/quantized_parts.h"
#include "backends/native/steps/sign_flip_step.h"

namespace fusescope::native {

using dnnl::memory;

namespace {

/// Returns `ref`, which is row-major, as the matrix [rows, columns] that a product without batches reads.
Ref asMatrix(Ref ref, std::int64_t columns) {
  ref.dims = {ref.count() / columns, columns};
  ref.strides = rowMajorStrides(ref.dims);
  return ref;
}

/// Adds the product as a step. `arguments` are its operands; the operands of its epilogue are added to them.
void addProduct(Context& context, const QuantizedChain& chain, const QuantizedParts& parts,
                const dnnl::matmul::primitive_desc& description, std::vector<DnnlStep::Argument> arguments,
                const std::vector<BufferIndex>& reads, const Ref& result) {
  addQuantizedArguments(context, chain, parts, arguments);
  context.chose({.kind = kMatMulKernel,
                 .by = Choice::By::OneDnn,
                 .implementation = description.impl_info_str(),
                 .multiplies = Choice::Factors::Codes});
  dnnl::primitive primitive = context.options().probe ? dnnl::primitive() : dnnl::matmul(description);
  context.program().addStep(
      std::make_unique<DnnlStep>(std::move(primitive), std::move(arguments), description.scratchpad_desc()), reads,
      {result.buffer});
  context.define(parts.value, result);
  if (parts.value != context.node(chain.last).outputs[0]) leaveQuantized(context, chain, parts.included);
}

/// Returns the codes of the second operand as signed codes, because oneDNN accepts no others.
Result<Ref> signedCodes(Context& context, const Ref& codes) {
  const Ref source = TRY(context.plain(codes));
  if (source.dtype == DataType::I8) return source;
  const Ref target = context.allocateScratch(DataType::I8, source.dims);
  context.program().addStep(makeSignFlipStep(source, target, context.threads()), {source.buffer}, {target.buffer});
  return target;
}

}  // namespace

Result<bool> emitQuantizedMatrix(Context& context, const QuantizedChain& chain) {
  const Node& root = context.node(chain.root);
  const Weight codes = context.weight(context.node(chain.weights).input(0));
  const bool turned = root.intAttribute("transB", 0) != 0;
  const std::int64_t k = codes.dims[turned ? 1 : 0], n = codes.dims[turned ? 0 : 1];
  const Dims target = {productOf(context.dimsOf(root.outputs[0]), 0) / n, n};
  QuantizedParts parts = foldQuantized(context, chain, target, MemoryFormat());
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
  if (!described || dnnlCodeOf(described->impl_info_str()) == DnnlCode::Reference) return false;
  const dnnl::matmul::primitive_desc& description = *described;
  const Ref given = asMatrix(TRY(context.plain(TRY(context.ref(chain.source)))), k);
  const Ref result = context.allocate(parts.value);
  std::vector<BufferIndex> reads = {given.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, from, given),
                                               argumentAt(DNNL_ARG_DST, to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(context.plain(TRY(context.ref(value))));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, matrix(residual.dtype, target), residual));
  }
  const memory::desc held({k, n}, memory::data_type::s8, turned ? Dims{1, k} : Dims{n, 1});
  const memory::desc packed = description.weights_desc();
  arguments.push_back(
      {DNNL_ARG_WEIGHTS, packed, context.program().addPacked(packCodes(codes, held, packed, chain.sourceScale))});
  if (!parts.biases.empty())
    arguments.push_back(
        {DNNL_ARG_BIAS, bias, context.program().addPacked(quantizedBias(context, chain, parts.biases, parts.unit))});
  addProduct(context, chain, parts, description, std::move(arguments), reads, result);
  return true;
}

Result<bool> emitProductOfCodes(Context& context, const QuantizedChain& chain) {
  const Node& root = context.node(chain.root);
  const Dims left = context.dimsOf(root.input(0)), right = context.dimsOf(root.input(1)),
             target = context.dimsOf(root.outputs[0]);
  const bool broadcasts = left.size() != right.size() || !std::equal(left.begin(), left.end() - 2, right.begin());
  if (target.size() > 6 || broadcasts) return false;
  QuantizedParts parts = foldQuantized(context, chain, target, MemoryFormat());
  if (!parts.biases.empty()) return false;
  const float zero = chain.rightScale.zero - (chain.rightScale.type == DataType::U8 ? 128.0f : 0.0f);
  dnnl::primitive_attr attributes = parts.attributes(chain.sourceScale, 0);
  if (zero != 0) attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  const memory::desc from = *dnnlDesc({chain.sourceScale.type, left, {}}), to = *dnnlDesc({parts.type(), target, {}});
  const memory::desc other = *dnnlDesc({DataType::I8, right, {}});
  const auto described =
      ifImplemented([&] { return dnnl::matmul::primitive_desc(dnnlEngine(), from, other, to, attributes); });
  if (!described || dnnlCodeOf(described->impl_info_str()) == DnnlCode::Reference) return false;
  const dnnl::matmul::primitive_desc& description = *described;
  const Ref a = TRY(context.plain(TRY(context.ref(chain.source)))),
            b = TRY(signedCodes(context, TRY(context.ref(chain.right))));
  const Ref result = context.allocate(parts.value);
  std::vector<BufferIndex> reads = {a.buffer, b.buffer};
  std::vector<DnnlStep::Argument> arguments = {
      argumentAt(DNNL_ARG_SRC, from, a), argumentAt(DNNL_ARG_WEIGHTS, other, b), argumentAt(DNNL_ARG_DST, to, result)};
  for (const auto& [id, value] : parts.residuals) {
    const Ref residual = TRY(context.plain(TRY(context.ref(value))));
    reads.push_back(residual.buffer);
    arguments.push_back(argumentAt(id, *dnnlDesc({residual.dtype, target, {}}), residual));
  }
  addZeroPoint(context, DNNL_ARG_WEIGHTS, zero, arguments);
  addProduct(context, chain, parts, description, std::move(arguments), reads, result);
  return true;
}

}  // namespace fusescope::native
