#include "backends/native/lowering/factors.h"
#include "backends/native/lowering/matrix_product.h"
#include "backends/native/lowering/post_operations.h"
#include "backends/native/onednn.h"
#include "base/hash.h"

namespace fusescope::native {

using dnnl::memory;

namespace {

/// With up to this many rows, the time of a product is the time of reading its weights. As codes the weights are fewer
/// bytes, so that no other kernel is tried.
constexpr std::int64_t kFewMatMulRows = 32;

/// Packs the weights from the layout `held` into the layout `target` that the primitive reads.
Packing packWeights(const PreparedMatMul& product, const memory::desc& held, const memory::desc& target) {
  KeyBuilder form;
  form.text("matmul").text(formatKey(held)).text(formatKey(target));
  return packingOf(form.canonical(), {*product.weights},
                   [held, target](std::span<const Tensor> numbers) -> Result<Tensor> {
                     return reordered(numbers[0].converted(DataType::F32).bytes(), held, target);
                   });
}

memory::desc biasDesc(const PreparedMatMul& product) {
  Dims dims(product.result.size(), 1);
  dims.back() = product.columns();
  return memory::desc(dims, memory::data_type::f32, rowMajorStrides(dims));
}

/// A request to oneDNN for a matrix product.
struct MatMulCall {
  memory::desc a, b, c;
  std::optional<memory::desc> bias;
  dnnl::post_ops operations;
};

dnnl::matmul::primitive_desc describeMatMul(const MatMulCall& call) {
  const dnnl::primitive_attr attributes = userScratchpad(call.operations);
  if (!call.bias) return dnnl::matmul::primitive_desc(dnnlEngine(), call.a, call.b, call.c, attributes);
  return dnnl::matmul::primitive_desc(dnnlEngine(), call.a, call.b, *call.bias, call.c, attributes);
}

/// Makes the request for a product. oneDNN chooses the layout of constant weights.
MatMulCall matMulCallOf(const PreparedMatMul& product, const memory::desc& c) {
  MatMulCall call{.a = dnnlStrided(product.a), .c = c, .operations = product.operations};
  call.b = product.weights ? memory::desc(product.b.dims, *dnnlType(product.type), memory::format_tag::any)
                           : dnnlStrided(product.b);
  if (!product.biases.empty()) call.bias = biasDesc(product);
  return call;
}

/// Returns a function that makes the product of `call` up to its first activation, with weights in the layout `b` and a
/// result in f32.
std::function<Result<std::unique_ptr<Step>>(BufferIndex)> sumsOfMatMul(const PreparedMatMul& product, MatMulCall call,
                                                                       const memory::desc& b,
                                                                       std::vector<DnnlStep::Argument> arguments) {
  call.b = b;
  call.operations = product.sums;
  call.c = memory::desc(product.result, memory::data_type::f32, rowMajorStrides(product.result));
  return [call, arguments = std::move(arguments)](BufferIndex into) {
    return guardDnnl<std::unique_ptr<Step>>("a matrix product", [&]() -> Result<std::unique_ptr<Step>> {
      const auto made = describeMatMul(call);
      return std::unique_ptr<Step>(std::make_unique<DnnlStep>(
          dnnl::matmul(made), argumentsUpTo(call.operations, arguments, call.c, into), made.scratchpad_desc()));
    });
  };
}

/// Returns the number of rows of the first operand in all batches.
std::int64_t rowsOf(const Context& context, const Node& product) {
  const Dims dims = context.dimsOf(product.input(0));
  return productOf(dims, 0, dims.size() - 1);
}

Status emitMatMulPrimitive(Context& context, const Chain& chain, const PreparedMatMul& product, std::size_t included,
                           const Ref& target) {
  const Ref &a = product.a, &b = product.b;
  const memory::desc aDesc = dnnlStrided(a), bHeld = dnnlStrided(b);
  const memory::desc cDesc = dnnlStrided(denseAs(target, product.result));
  MatMulCall call = matMulCallOf(product, cDesc);
  const auto description = describeMatMul(call);
  std::vector<BufferIndex> reads = {a.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, aDesc, a),
                                               argumentAt(DNNL_ARG_DST, cDesc, target)};
  if (product.weights) {
    const memory::desc packed = description.weights_desc();
    arguments.push_back({DNNL_ARG_WEIGHTS, packed, context.program().addPacked(packWeights(product, bHeld, packed))});
  } else {
    arguments.push_back(argumentAt(DNNL_ARG_WEIGHTS, bHeld, b));
    reads.push_back(b.buffer);
  }
  if (!product.biases.empty())
    arguments.push_back({DNNL_ARG_BIAS, biasDesc(product), context.program().addPacked(packBias(product))});
  for (const auto& [id, addend] : product.addends) {
    arguments.push_back(argumentAt(id, dnnlStrided(addend), addend));
    reads.push_back(addend.buffer);
  }
  const bool isNarrowed = product.type != DataType::F32;
  context.chose({.kind = kMatMulKernel,
                 .by = Choice::By::OneDnn,
                 .implementation = description.impl_info_str(),
                 .multiplies = isNarrowed ? Choice::Factors::NarrowFloats : Choice::Factors::Floats});
  dnnl::primitive primitive = context.options().probe ? dnnl::primitive() : dnnl::matmul(description);
  std::unique_ptr<Step> step =
      std::make_unique<DnnlStep>(std::move(primitive), arguments, description.scratchpad_desc());
  if (product.mayLoseNumbers) {
    auto sums = sumsOfMatMul(product, std::move(call), description.weights_desc(), std::move(arguments));
    step = makeRecheckedStep(std::move(step),
                             exactEpilogue({.product = std::move(sums),
                                            .tape = epilogueTape(context, chain, product.summed, included),
                                            .addends = product.residuals,
                                            .target = target,
                                            .count = productOf(product.result, 0),
                                            .threads = context.threads()}));
  }
  context.program().addStep(std::move(step), reads, {target.buffer});
  return Done{};
}

Status emitMatMulChain(Context& context, const Chain& chain) {
  const Node& root = context.node(chain.root);
  if (!canMultiply(context, root)) return emitSeparately(context, chain);
  bool own = isOwnProduct(context, root) &&
             (context.options().ownMatMul || (rowsOf(context, root) <= kFewMatMulRows && codeMatrix(context, root)));
  PreparedMatMul product = TRY(prepareMatMul(context, root, multiplies(context, root), own));
  if (own && product.a.strides[1] != 1 && product.a.dims[1] != 1) {
    own = false;
    product = TRY(prepareMatMul(context, root, multiplies(context, root), own));
  }
  const std::size_t included = TRY(foldChain(context, chain, product, own));
  const ValueId result = resultOf(context, chain, included);
  const bool writesNarrow = own || (product.type != DataType::F32 && context.storedType(result) == product.type);
  const Ref target = context.allocate(result, {}, writesNarrow ? context.storedType(result) : DataType::F32);
  context.define(result, target);
  leaveToTapes(context, chain, included);
  if (own) {
    std::vector<OwnProduct> products;
    products.push_back({std::move(product), target});
    return emitOwnProducts(context, std::move(products));
  }
  return guardDnnl<Done>("matrix product '" + root.name + "'",
                         [&] { return emitMatMulPrimitive(context, chain, product, included, target); });
}

Result<bool> emitMatMul(Context& context, const Node& node) {
  if (!node.is("MatMul") && !node.is("Gemm")) return false;
  TRY(emitMatMulChain(context, chainOf(node)));
  return true;
}

void claimProducts(Context& context, Units& units) {
  claimChains(context, units, RootBinding::Kind::Product, emitMatMulChain);
}

}  // namespace

extern const Emitter kMatMulEmitter{.name = "matmul", .claim = claimProducts, .emit = emitMatMul};

}  // namespace fusescope::native
