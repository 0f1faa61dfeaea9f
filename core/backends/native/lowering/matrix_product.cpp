#include "backends/native/lowering/matrix_product.h"

#include "backends/native/lowering/factors.h"
#include "backends/native/lowering/post_operations.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/pointwise_step.h"
#include "base/hash.h"

namespace fusescope::native {
namespace {

/// Returns `ref` with leading extents of 1, so that it has the rank `rank`.
Ref withRank(Ref ref, std::size_t rank) {
  const std::size_t lead = rank - ref.dims.size();
  ref.dims.insert(ref.dims.begin(), lead, 1);
  ref.strides.insert(ref.strides.begin(), lead, 0);
  return ref;
}

/// Returns whether a matrix product can read the tensor where it is: one of the last two axes is contiguous, and
/// batches come first.
bool readable(const Ref& ref) {
  const std::size_t rank = ref.dims.size();
  const std::int64_t rows = ref.dims[rank - 2], columns = ref.dims[rank - 1];
  const std::int64_t rowStride = ref.strides[rank - 2], columnStride = ref.strides[rank - 1];
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (ref.dims[i] != 1 && ref.strides[i] == 0) return false;
  }
  return (columnStride == 1 && (rows == 1 || rowStride >= columns)) ||
         (rowStride == 1 && (columns == 1 || columnStride >= rows));
}

void transposeLast(Ref& ref) {
  const std::size_t rank = ref.dims.size();
  std::swap(ref.dims[rank - 1], ref.dims[rank - 2]);
  std::swap(ref.strides[rank - 1], ref.strides[rank - 2]);
}

void addTensor(PreparedMatMul& product, const Ref& operand) {
  product.addends.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(product.operations.len()) | DNNL_ARG_SRC_1, operand);
  product.operations.append_binary(dnnl::algorithm::binary_add, dnnlStrided(operand));
}

/// Returns whether `value` is a constant that adds one number to each of `n` columns.
bool isPerColumn(const Context& context, ValueId value, std::int64_t n) {
  if (!context.isConstant(value)) return false;
  const Dims dims = context.dimsOf(value);
  const auto count = elementCount(dims);
  return count == 1 || (count == n && dims.back() == n);
}

/// Returns a new tensor that contains `ref`, which is row-major, multiplied by `factor`.
Ref scaled(Context& context, const Ref& ref, float factor) {
  const Ref target = context.allocateScratch(DataType::F32, ref.dims);
  TapeProgram program{.extents = ref.dims, .numbers = {{1, factor}}, .registers = 3};
  program.inputs.push_back({ref, rowMajorStrides(ref.dims), 0});
  program.outputs.push_back({target, rowMajorStrides(ref.dims), 2});
  program.code = {{.op = TapeOp::Mul, .target = 2, .a = 0, .b = 1}};
  context.program().addStep(makePointwiseStep(std::move(program), context.threads()), {ref.buffer}, {target.buffer});
  return target;
}

// Adds the terms of a Gemm, which is alpha · product + beta · c.
Status addGemmTerms(Context& context, const Node& gemm, PreparedMatMul& product) {
  const float alpha = gemm.floatAttribute("alpha", 1.0f), beta = gemm.floatAttribute("beta", 1.0f);
  if (alpha != 1.0f) product.operations.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0f);
  if (!gemm.input(2).valid()) return Done{};
  if (isPerColumn(context, gemm.input(2), product.columns()) && alpha == 1.0f) {
    product.biases.emplace_back(context.weight(gemm.input(2)), beta);
    return Done{};
  }
  const Ref operand = withRank(TRY(context.plain(TRY(context.ref(gemm.input(2))))), 2);
  addTensor(product, beta == 1.0f ? operand : scaled(context, operand, beta));
  return Done{};
}

}  // namespace

Ref denseAs(Ref ref, const Dims& dims) {
  ref.dims = dims;
  ref.strides = rowMajorStrides(dims);
  return ref;
}

Packing packBias(const PreparedMatMul& product) {
  const std::int64_t columns = product.columns();
  KeyBuilder form;
  form.text("bias").number(columns);
  std::vector<Weight> weights;
  std::vector<float> factors;
  for (const auto& [weight, factor] : product.biases) {
    form.number(factor);
    weights.push_back(weight);
    factors.push_back(factor);
  }
  return packingOf(form.canonical(), std::move(weights),
                   [columns, factors](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor bias = Tensor::zeros(DataType::F32, {columns});
                     for (std::size_t k = 0; k < numbers.size(); ++k)
                       for (std::int64_t i = 0; i < columns; ++i)
                         bias.mutableData<float>()[static_cast<std::size_t>(i)] +=
                             factors[k] * static_cast<float>(numbers[k].asDouble(numbers[k].count() == 1 ? 0 : i));
                     return bias;
                   });
}

bool canMultiply(const Context& context, const Node& root) {
  const Dims a = context.dimsOf(root.input(0)), b = context.dimsOf(root.input(1));
  const bool floats = context.typeOf(root.input(0)) == DataType::F32 && context.typeOf(root.input(1)) == DataType::F32;
  return floats && !a.empty() && b.size() >= 2 && context.dimsOf(root.outputs[0]).size() <= 6 &&
         elementCount(a).value_or(0) > 0 && elementCount(b).value_or(0) > 0;
}

/// Returns whether our own kernel can run the product if its first operand is plain.
bool isOwnProduct(const Context& context, const Node& root) {
  if (!(root.is("MatMul") || root.is("Gemm")) || !canMultiply(context, root) || !context.isConstant(root.input(1)))
    return false;
  const Dims right = context.dimsOf(root.input(1));
  if (productOf(right, 0, right.size() - 2) != 1) return false;
  if (root.is("MatMul")) return true;
  return root.intAttribute("transA", 0) == 0 && root.floatAttribute("alpha", 1.0f) == 1.0f &&
         (!root.input(2).valid() || isPerColumn(context, root.input(2), context.dimsOf(root.outputs[0]).back()));
}

// A product by a constant matrix becomes one of two dimensions, regardless of the axes before its rows. Other products
// are batches of strided matrices.
Result<PreparedMatMul> prepareMatMul(Context& context, const Node& root, DataType type, bool own) {
  PreparedMatMul product{.type = type, .result = context.dimsOf(root.outputs[0])};
  Ref a = TRY(context.strided(TRY(own ? context.seen(root.input(0)) : factor(context, root.input(0), type))));
  const Dims right = context.dimsOf(root.input(1));
  const bool isWeight = context.isConstant(root.input(1)) && productOf(right, 0, right.size() - 2) == 1;
  // If the second operand is a weight, `b` describes the layout in which it is held.
  Ref b{.dtype = DataType::F32, .dims = right, .strides = rowMajorStrides(right)};
  const std::optional<ValueId> turned = isWeight ? transposedConstant(context, root) : std::nullopt;
  if (turned) b.strides = {1, right[0]};
  if (!isWeight) b = TRY(context.strided(TRY(factor(context, root.input(1), type))));
  if (a.dims.size() == 1) {  // a vector is a matrix of one row, and the result does not have this axis
    a = withRank(a, 2);
    product.result.insert(product.result.end() - 1, 1);
  }
  if (root.is("Gemm") && root.intAttribute("transA", 0) != 0) transposeLast(a);
  if (root.is("Gemm") && root.intAttribute("transB", 0) != 0) transposeLast(b);
  const bool matrix = productOf(b.dims, 0, b.dims.size() - 2) == 1;
  if (matrix && (a.dims.size() == 2 || a.contiguous() || !readable(a) || isWeight)) {
    const std::int64_t k = a.dims.back(), n = b.dims.back();
    product.result = {productOf(product.result, 0) / n, n};
    if (isWeight) {
      const ValueId source = turned.value_or(root.input(1));
      const DataType narrow = context.narrowTypeOf(source);
      const bool isPackedNarrow = narrow != DataType::Undefined && (own || type == narrow);
      product.weights = isPackedNarrow ? context.rawWeight(source) : context.weight(source);
      product.held = narrow != DataType::Undefined ? narrow : DataType::F32;
      product.codes = codeMatrix(context, root);
    }
    if (a.dims.size() > 2) a = denseAs(TRY(context.plain(a)), {product.result[0], k});
    b.strides.erase(b.strides.begin(), b.strides.end() - 2);
    b.dims = {k, n};
  } else {
    a = withRank(a, product.result.size());
    b = withRank(b, product.result.size());
  }
  product.a = readable(a) ? a : TRY(context.plain(a));
  product.b = isWeight || readable(b) ? b : TRY(context.plain(b));
  if (root.is("Gemm")) TRY(addGemmTerms(context, root, product));
  return product;
}

Result<std::size_t> foldChain(Context& context, const Chain& chain, PreparedMatMul& product, bool own) {
  std::size_t included = 1;
  for (const Chain::Operation& operation : chain.operations) {
    if (operation.isActivation() && product.summed == 0) {
      product.sums = copyOf(product.operations);
      product.summed = included;
    }
    if (operation.kind == Chain::Kind::Bias && product.operations.len() == 0) {
      product.biases.emplace_back(context.weight(operation.operand), 1.0f);
    } else if (operation.kind == Chain::Kind::Cast) {
      // For our own kernel there is nothing to do: floats are f32 here.
    } else if (own) {
      break;
    } else if (operation.kind == Chain::Kind::Residual) {
      const bool isNarrowed = product.type != DataType::F32 && context.seenType(operation.operand) == product.type;
      const Ref operand = isNarrowed ? TRY(context.seen(operation.operand)) : TRY(context.ref(operation.operand));
      const Ref dense = denseAs(TRY(context.plain(operand)), product.result);
      product.residuals.emplace(operation.operand, dense);
      addTensor(product, dense);
    } else if (!appendActivation(product.operations, operation, context.node(operation.node),
                                 [&](ValueId value) { return context.constantNumber(value); })) {
      break;
    }
    product.mayLoseNumbers =
        product.mayLoseNumbers || (operation.isActivation() && mayLoseNumbers(context.node(operation.node)));
    included += operation.nodeCount();
  }
  return included;
}

}  // namespace fusescope::native
