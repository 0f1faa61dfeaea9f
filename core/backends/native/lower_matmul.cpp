#include <algorithm>

#include "backends/native/code_panels.h"
#include "backends/native/exact_epilogue.h"
#include "backends/native/gemm.h"
#include "backends/native/gemm_step.h"
#include "backends/native/lowering.h"
#include "backends/native/onednn.h"
#include "backends/native/post_operations.h"
#include "base/hash.h"

namespace fusescope::native {

using dnnl::memory;

/// A matrix product with what was taken into it.
struct PreparedMatMul {
  Ref a, b;
  DataType type = DataType::F32;    ///< of both operands, as they are multiplied
  Dims result;                      ///< extents as the primitive sees them: [m, n], or with batches in front
  std::optional<Weight> weights;    ///< what `b` is where it is a constant matrix
  DataType held = DataType::F32;    ///< narrow: what holds all of `weights`
  std::optional<CodeMatrix> codes;  ///< of what `weights` are dequantised, where they are
  std::vector<std::pair<Weight, float>> biases;  ///< by column, or one number, each with its factor; their sum
  dnnl::post_ops operations;
  std::vector<std::pair<int, Ref>> addends;  ///< operands of `operations`, by argument
  std::map<ValueId, Ref> residuals;          ///< of these, what lies as the result
  dnnl::post_ops sums;                       ///< `operations` before the first activation
  std::size_t summed = 0;                    ///< nodes up to there; 0: there is no activation
  bool mayLoseNumbers = false;

  std::int64_t columns() const { return b.dims.back(); }
};

/// A product that our own kernel runs.
struct OwnMatMul {
  PreparedMatMul product;
  Ref target;
};

namespace {

/// Up to so many rows a product takes as long as reading its weights, which are fewer bytes as codes: no other kernel
/// is tried.
constexpr std::int64_t kFewRows = 32;

/// `ref` with extents of 1 before the others, up to `rank`.
Ref withRank(Ref ref, std::size_t rank) {
  const std::size_t lead = rank - ref.dims.size();
  ref.dims.insert(ref.dims.begin(), lead, 1);
  ref.strides.insert(ref.strides.begin(), lead, 0);
  return ref;
}

/// Whether a matrix product can read it where it is: one of the last two axes contiguous, batches in front.
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

/// `ref`, which is row-major, seen with other extents.
Ref denseAs(Ref ref, const Dims& dims) {
  ref.dims = dims;
  ref.strides = rowMajorStrides(dims);
  return ref;
}

/// The sum of the biases of `columns` columns.
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

/// The weights, whose elements are found as `held` says, as the primitive wants them.
Packing packWeights(const PreparedMatMul& product, const memory::desc& held, const memory::desc& target) {
  KeyBuilder form;
  form.text("matmul").text(formatKey(held)).text(formatKey(target));
  return packingOf(form.canonical(), {*product.weights},
                   [held, target](std::span<const Tensor> numbers) -> Result<Tensor> {
                     return reordered(numbers[0].converted(DataType::F32).bytes(), held, target);
                   });
}

/// The weights [k, n], or transposed [n, k], in panels of `type` (gemm.h).
Packing packGemmPanels(const Weight& weight, std::int64_t k, std::int64_t n, bool transposed, DataType type) {
  KeyBuilder form;
  form.text("panels").text(name(type)).number(gemmPanel()).number(k).number(n).number(transposed);
  return packingOf(form.canonical(), {weight},
                   [k, n, transposed, type](std::span<const Tensor> numbers) -> Result<Tensor> {
                     const Tensor wide = numbers[0].converted(DataType::F32);
                     Tensor packed = packedMemory(byteSize(type, packedCount(k, n)));
                     packAllPanels(wide.data<float>().data(), transposed ? 1 : n, transposed ? k : 1, k, n,
                                   {type, packed.mutableBytes()});
                     return packed;
                   });
}

void addTensor(PreparedMatMul& product, const Ref& operand) {
  product.addends.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(product.operations.len()) | DNNL_ARG_SRC_1, operand);
  product.operations.append_binary(dnnl::algorithm::binary_add, dnnlStrided(operand));
}

memory::desc biasDesc(const PreparedMatMul& product) {
  Dims dims(product.result.size(), 1);
  dims.back() = product.columns();
  return memory::desc(dims, memory::data_type::f32, rowMajorStrides(dims));
}

/// What oneDNN is asked for.
struct MatMulCall {
  memory::desc a, b, c;
  std::optional<memory::desc> bias;
  dnnl::post_ops operations;
};

dnnl::matmul::primitive_desc describe(const MatMulCall& call) {
  const dnnl::primitive_attr attributes = userScratchpad(call.operations);
  if (!call.bias) return dnnl::matmul::primitive_desc(dnnlEngine(), call.a, call.b, call.c, attributes);
  return dnnl::matmul::primitive_desc(dnnlEngine(), call.a, call.b, *call.bias, call.c, attributes);
}

/// Constant weights are held as the implementation wants them.
MatMulCall callOf(const PreparedMatMul& product, const memory::desc& c) {
  MatMulCall call{.a = dnnlStrided(product.a), .c = c, .operations = product.operations};
  call.b = product.weights ? memory::desc(product.b.dims, *dnnlType(product.type), memory::format_tag::any)
                           : dnnlStrided(product.b);
  if (!product.biases.empty()) call.bias = biasDesc(product);
  return call;
}

/// The product that `call` is of, which oneDNN reads its weights for as they lie in `b`, up to its first activation.
std::function<Result<std::unique_ptr<Step>>(BufferIndex)> sumsAlone(const PreparedMatMul& product, MatMulCall call,
                                                                    const memory::desc& b,
                                                                    std::vector<DnnlStep::Argument> arguments) {
  call.b = b;
  call.operations = product.sums;
  call.c = memory::desc(product.result, memory::data_type::f32, rowMajorStrides(product.result));
  return [call, arguments = std::move(arguments)](BufferIndex into) {
    return guardDnnl<std::unique_ptr<Step>>("a matrix product", [&]() -> Result<std::unique_ptr<Step>> {
      const auto made = describe(call);
      return std::unique_ptr<Step>(std::make_unique<DnnlStep>(
          dnnl::matmul(made), argumentsUpTo(call.operations, arguments, call.c, into), made.scratchpad_desc()));
    });
  };
}

}  // namespace

/// Of the first operand, in all batches.
std::int64_t Lowering::rowsOf(const Node& product) const {
  const Dims dims = dimsOf(product.input(0));
  return productOf(dims, 0, dims.size() - 1);
}

Status Lowering::lowerMatMul(const Chain& chain) {
  const Node& root = node(chain.root);
  if (!canMultiply(root)) return lowerSeparately(chain);
  bool own = isOwnMatMul(root) && (m_options.ownMatMul || (rowsOf(root) <= kFewRows && codeMatrix(root)));
  PreparedMatMul product = TRY(prepareMatMul(root, multiplies(root), own));
  if (own && product.a.strides[1] != 1 && product.a.dims[1] != 1) {
    own = false;
    product = TRY(prepareMatMul(root, multiplies(root), own));
  }
  if (root.is("Gemm")) TRY(addGemmTerms(root, product));
  const std::size_t taken = TRY(foldChain(chain, product, own));
  const ValueId result = resultOf(chain, taken);
  const bool writesNarrow = own || (product.type != DataType::F32 && storedType(result) == product.type);
  const Ref target = allocate(result, {}, writesNarrow ? storedType(result) : DataType::F32);
  define(result, target);
  leaveToTapes(chain, taken);
  if (own) {
    std::vector<OwnMatMul> products;
    products.push_back({std::move(product), target});
    return emitOwnMatMuls(std::move(products));
  }
  return guardDnnl<Done>("matrix product '" + root.name + "'",
                         [&] { return emitMatMul(chain, product, taken, target); });
}

bool Lowering::canMultiply(const Node& root) const {
  const Dims a = dimsOf(root.input(0)), b = dimsOf(root.input(1));
  const bool floats = typeOf(root.input(0)) == DataType::F32 && typeOf(root.input(1)) == DataType::F32;
  return floats && !a.empty() && b.size() >= 2 && dimsOf(root.outputs[0]).size() <= 6 &&
         elementCount(a).value_or(0) > 0 && elementCount(b).value_or(0) > 0;
}

// A product by a constant matrix is one of two dimensions, whatever stands before its rows. Others are batches of
// strided matrices.
Result<PreparedMatMul> Lowering::prepareMatMul(const Node& root, DataType type, bool own) {
  PreparedMatMul product{.type = type, .result = dimsOf(root.outputs[0])};
  Ref a = TRY(strided(TRY(own ? seen(root.input(0)) : factor(root.input(0), type))));
  const Dims right = dimsOf(root.input(1));
  const bool isWeight = isConstant(root.input(1)) && productOf(right, 0, right.size() - 2) == 1;
  Ref b{.dtype = DataType::F32, .dims = right, .strides = rowMajorStrides(right)};  // of a weight: how it is held
  const std::optional<ValueId> turned = isWeight ? transposedConstant(root.input(1)) : std::nullopt;
  if (turned) b.strides = {1, right[0]};
  if (!isWeight) b = TRY(strided(TRY(factor(root.input(1), type))));
  if (a.dims.size() == 1) {  // a vector is one row, and the product has none
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
      const DataType narrow = narrowTypeOf(source);
      const bool isPackedNarrow = narrow != DataType::Undefined && (own || type == narrow);
      product.weights = isPackedNarrow ? rawWeight(source) : weight(source);
      product.held = narrow != DataType::Undefined ? narrow : DataType::F32;
      product.codes = codeMatrix(root);
    }
    if (a.dims.size() > 2) a = denseAs(TRY(plain(a)), {product.result[0], k});
    b.strides.erase(b.strides.begin(), b.strides.end() - 2);
    b.dims = {k, n};
  } else {
    a = withRank(a, product.result.size());
    b = withRank(b, product.result.size());
  }
  product.a = readable(a) ? a : TRY(plain(a));
  product.b = isWeight || readable(b) ? b : TRY(plain(b));
  return product;
}

Result<Ref> Lowering::factor(ValueId value, DataType type) {
  if (type == DataType::F32) return ref(value);
  if (const auto narrow = TRY(narrowed(value, type))) return *narrow;
  Ref constant = TRY(held(value));  // of batches: the only factor that is no weight
  const Ref narrow = allocateScratch(type, constant.dims);
  TRY(convertType(constant, narrow));
  return narrow;
}

// alpha · product + beta · c.
Status Lowering::addGemmTerms(const Node& gemm, PreparedMatMul& product) {
  const float alpha = gemm.floatAttribute("alpha", 1.0f), beta = gemm.floatAttribute("beta", 1.0f);
  if (alpha != 1.0f) product.operations.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0f);
  if (!gemm.input(2).valid()) return Done{};
  if (isPerColumn(gemm.input(2), product.columns()) && alpha == 1.0f) {
    product.biases.emplace_back(weight(gemm.input(2)), beta);
    return Done{};
  }
  const Ref operand = withRank(TRY(plain(TRY(ref(gemm.input(2))))), 2);
  addTensor(product, beta == 1.0f ? operand : scaled(operand, beta));
  return Done{};
}

Result<std::size_t> Lowering::foldChain(const Chain& chain, PreparedMatMul& product, bool own) {
  std::size_t taken = 1;
  for (const Chain::Operation& operation : chain.operations) {
    if (operation.isActivation() && product.summed == 0) {
      product.sums = copyOf(product.operations);
      product.summed = taken;
    }
    if (operation.kind == Chain::Kind::Bias && product.operations.len() == 0) {
      product.biases.emplace_back(weight(operation.operand), 1.0f);
    } else if (operation.kind == Chain::Kind::Cast) {
      // nothing: floats are f32 here
    } else if (own) {
      break;
    } else if (operation.kind == Chain::Kind::Residual) {
      const bool isNarrowed = product.type != DataType::F32 && seenType(operation.operand) == product.type;
      const Ref operand = isNarrowed ? TRY(seen(operation.operand)) : TRY(ref(operation.operand));
      const Ref dense = denseAs(TRY(plain(operand)), product.result);
      product.residuals.emplace(operation.operand, dense);
      addTensor(product, dense);
    } else if (!appendActivation(product.operations, operation, node(operation.node),
                                 [this](ValueId value) { return constantNumber(value); })) {
      break;
    }
    product.mayLoseNumbers =
        product.mayLoseNumbers || (operation.isActivation() && mayLoseNumbers(node(operation.node)));
    taken += operation.nodeCount();
  }
  return taken;
}

Status Lowering::emitMatMul(const Chain& chain, const PreparedMatMul& product, std::size_t taken, const Ref& target) {
  const Ref &a = product.a, &b = product.b;
  const memory::desc aDesc = dnnlStrided(a), bHeld = dnnlStrided(b);
  const memory::desc cDesc = dnnlStrided(denseAs(target, product.result));
  MatMulCall call = callOf(product, cDesc);
  const auto description = describe(call);
  std::vector<BufferIndex> reads = {a.buffer};
  std::vector<DnnlStep::Argument> arguments = {argumentAt(DNNL_ARG_SRC, aDesc, a),
                                               argumentAt(DNNL_ARG_DST, cDesc, target)};
  if (product.weights) {
    const memory::desc packed = description.weights_desc();
    arguments.push_back({DNNL_ARG_WEIGHTS, packed, m_program.addPacked(packWeights(product, bHeld, packed))});
  } else {
    arguments.push_back(argumentAt(DNNL_ARG_WEIGHTS, bHeld, b));
    reads.push_back(b.buffer);
  }
  if (!product.biases.empty())
    arguments.push_back({DNNL_ARG_BIAS, biasDesc(product), m_program.addPacked(packBias(product))});
  for (const auto& [id, addend] : product.addends) {
    arguments.push_back(argumentAt(id, dnnlStrided(addend), addend));
    reads.push_back(addend.buffer);
  }
  m_implementations.push_back(std::string("matmul:") + description.impl_info_str());
  m_multipliesNarrow = m_multipliesNarrow || product.type != DataType::F32;
  dnnl::primitive primitive = m_options.probe ? dnnl::primitive() : dnnl::matmul(description);
  std::unique_ptr<Step> step =
      std::make_unique<DnnlStep>(std::move(primitive), arguments, description.scratchpad_desc());
  if (product.mayLoseNumbers) {
    auto sums = sumsAlone(product, std::move(call), description.weights_desc(), std::move(arguments));
    step = makeRecheckedStep(std::move(step), exactEpilogue({.product = std::move(sums),
                                                             .tape = epilogueTape(chain, product.summed, taken),
                                                             .addends = product.residuals,
                                                             .target = target,
                                                             .count = productOf(product.result, 0),
                                                             .threads = m_threads}));
  }
  m_program.addStep(std::move(step), reads, {target.buffer});
  return Done{};
}

Status Lowering::emitOwnMatMuls(std::vector<OwnMatMul> products) {
  m_implementations.push_back("matmul:own");
  const Ref a = products.front().product.a;
  const std::int64_t m = a.dims[0], k = a.dims[1];
  std::vector<GemmTarget> targets;
  std::vector<BufferIndex> writes;
  for (OwnMatMul& own : products) {
    const std::int64_t n = own.product.columns();
    const bool transposed = own.product.b.strides[1] != 1;
    writes.push_back(own.target.buffer);
    targets.push_back({.c = own.target, .n = n});
    if (const auto& codes = own.product.codes) {
      const auto packed = [&](DataType type, Packing packing) {
        return Ref{.buffer = m_program.addPacked(std::move(packing)), .dtype = type};
      };
      targets.back().codes = {.codes = packed(DataType::U8, codePanelPacking(*codes)),
                              .scales = packed(DataType::F32, panelScalePacking(*codes)),
                              .zeros = packed(DataType::F32, panelZeroPacking(*codes)),
                              .bits = codes->bits(),
                              .block = codes->block};
    } else {
      targets.back().packed =
          packedRef({packedCount(k, n)}, packGemmPanels(*own.product.weights, k, n, transposed, own.product.held));
      targets.back().packed.dtype = own.product.held;
    }
    if (!own.product.biases.empty()) targets.back().bias = packedRef({n}, packBias(own.product));
  }
  const Ref rows = a.strides[0] == k || m == 1 ? a : TRY(plain(a));
  m_program.addStep(makeGemmStep(rows, m, k, std::move(targets), m_threads), {rows.buffer}, writes);
  return Done{};
}

// Products of one value by constant matrices, with the biases that follow them; what else follows is lowered where it
// stands.
std::vector<Chain> Lowering::parallelProducts() const {
  const std::vector<Binding> roots = bindingsOf(m_fused.bindings, roles::kRoot);
  if (!m_options.ownMatMul || roots.size() < 2) return {};
  std::vector<Chain> chains;
  const ValueId source = node(roots[0].node).input(0);
  for (const NodeId id : m_fused.nodes) {
    const Node& root = node(id);
    if (std::ranges::none_of(roots, [&](const Binding& binding) { return binding.node == id; })) continue;
    const bool isMatrix = dimsOf(root.input(1)).size() == 2 && dimsOf(source).size() >= 2;
    if (!isMatrix || !isOwnMatMul(root) || root.input(0) != source) return {};
    Chain chain = chainAfter(root);
    std::size_t taken = 1;
    while (taken < chain.nodes.size() && chain.operations[taken - 1].kind == Chain::Kind::Bias) ++taken;
    chain.nodes.resize(taken);
    chain.operations.resize(taken - 1);
    chain.result = resultOf(chain, taken);
    chains.push_back(std::move(chain));
  }
  return chains.size() < 2 ? std::vector<Chain>() : chains;
}

/// What `value` is the transposition of, where it is a matrix and that is a constant: it is packed from where it lies.
std::optional<ValueId> Lowering::transposedConstant(ValueId value) const {
  const auto made = producer(value);
  if (!made || !node(*made).is("Transpose") || dimsOf(value).size() != 2) return std::nullopt;
  const ValueId source = node(*made).input(0);
  const bool turns = node(*made).intsAttribute("perm", {1, 0}) == Dims{1, 0};
  return turns && isConstant(source) ? std::optional(source) : std::nullopt;
}

/// Whether it is a constant that adds one number to each of `n` columns.
bool Lowering::isPerColumn(ValueId value, std::int64_t n) const {
  if (!isConstant(value)) return false;
  const Dims dims = dimsOf(value);
  const auto count = elementCount(dims);
  return count == 1 || (count == n && dims.back() == n);
}

/// Whether our own kernel can run it, given a plain first operand.
bool Lowering::isOwnMatMul(const Node& root) const {
  if (!(root.is("MatMul") || root.is("Gemm")) || !canMultiply(root) || !isConstant(root.input(1))) return false;
  const Dims right = dimsOf(root.input(1));
  if (productOf(right, 0, right.size() - 2) != 1) return false;
  if (root.is("MatMul")) return true;
  return root.intAttribute("transA", 0) == 0 && root.floatAttribute("alpha", 1.0f) == 1.0f &&
         (!root.input(2).valid() || isPerColumn(root.input(2), dimsOf(root.outputs[0]).back()));
}

Status Lowering::lowerParallelProducts(const std::vector<Chain>& chains) {
  const ValueId source = node(chains[0].root).input(0);
  define(source, TRY(plain(TRY(seen(source)))));  // once for all of them
  std::vector<OwnMatMul> products;
  for (const Chain& chain : chains) {
    const Node& root = node(chain.root);
    PreparedMatMul product = TRY(prepareMatMul(root, DataType::F32, true));
    if (root.is("Gemm")) TRY(addGemmTerms(root, product));
    TRY(foldChain(chain, product, true));
    const Ref target = allocate(chain.result, {}, storedType(chain.result));
    define(chain.result, target);
    products.push_back({std::move(product), target});
  }
  return emitOwnMatMuls(std::move(products));
}

}  // namespace fusescope::native
