#include <algorithm>

#include "backends/native/gemm.h"
#include "backends/native/lowering.h"
#include "backends/native/onednn.h"
#include "backends/native/post_operations.h"

namespace fusescope::native {
namespace {

using dnnl::memory;

/// A product by constant weights with our own kernel: c [m, n] = a [m, k] · packed (+ bias).
class GemmStep final : public Step {
 public:
  GemmStep(Ref a, Ref c, std::int64_t m, std::int64_t n, std::int64_t k, std::vector<float> packed,
           std::vector<float> bias, int threads)
      : m_a(std::move(a)),
        m_c(std::move(c)),
        m_m(m),
        m_n(n),
        m_k(k),
        m_packed(std::move(packed)),
        m_bias(std::move(bias)),
        m_threads(threads) {}
  std::size_t weightBytes() const override { return (m_packed.size() + m_bias.size()) * sizeof(float); }

  // Panels are shared out in groups: a thread keeps its part of B and reads all of A.
  Status run(Memory memory, std::byte*) override {
    const float* a = reinterpret_cast<const float*>(memory[static_cast<std::size_t>(m_a.buffer)]) + m_a.offset;
    float* c = reinterpret_cast<float*>(memory[static_cast<std::size_t>(m_c.buffer)]) + m_c.offset;
    const std::int64_t panels = (m_n + gemmPanel() - 1) / gemmPanel();
    const std::int64_t parts = std::min<std::int64_t>(panels, m_threads * 4);
#pragma omp parallel for schedule(dynamic) num_threads(m_threads) if (m_m * m_n * m_k > 64 * 1024)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = panels * part / parts;
      const std::int64_t end = panels * (part + 1) / parts;
      runGemm({.a = a,
               .lda = m_k,
               .packed = m_packed.data(),
               .c = c,
               .ldc = m_n,
               .bias = m_bias.empty() ? nullptr : m_bias.data(),
               .m = m_m,
               .n = m_n,
               .k = m_k,
               .firstPanel = begin,
               .panels = end - begin});
    }
    return Done{};
  }

 private:
  Ref m_a, m_c;
  std::int64_t m_m, m_n, m_k;
  std::vector<float> m_packed, m_bias;
  int m_threads;
};

/// `ref` with extents of 1 before the others, up to `rank`.
Ref widened(Ref ref, std::size_t rank) {
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

}  // namespace

// A product by a constant matrix is one of two dimensions, whatever stands before its rows; its weights are held as
// the implementation wants them. Others are batches of strided matrices.
Status Lowering::lowerMatMul(const Chain& chain) {
  const Node& root = node(chain.root);
  const bool gemm = root.is("Gemm");
  const ValueId product = root.outputs[0];
  const Dims dims = dimsOf(product);
  const Dims aDims = dimsOf(root.input(0)), bDims = dimsOf(root.input(1));
  const bool floats = typeOf(root.input(0)) == DataType::F32 && typeOf(root.input(1)) == DataType::F32;
  const bool usable = floats && aDims.size() >= 2 && bDims.size() >= 2 && dims.size() <= 6 &&
                      elementCount(aDims).value_or(0) > 0 && elementCount(bDims).value_or(0) > 0;
  if (!usable) {
    for (NodeId id : chain.nodes) TRY(isPointwise(node(id)) ? emitTape({id}) : lowerReference(node(id)));
    return Done{};
  }
  Ref a = TRY(ref(root.input(0)));
  if (a.layout != Layout::Plain) a = TRY(inLayout(a, Layout::Plain));
  Ref b = TRY(ref(root.input(1)));
  if (b.layout != Layout::Plain) b = TRY(inLayout(b, Layout::Plain));
  if (gemm && root.intAttribute("transA", 0) != 0) transposeLast(a);
  if (gemm && root.intAttribute("transB", 0) != 0) transposeLast(b);
  const float alpha = gemm ? root.floatAttribute("alpha", 1.0f) : 1.0f;
  const float beta = gemm ? root.floatAttribute("beta", 1.0f) : 1.0f;
  const bool matrix = b.dims.size() == 2 || elementCount(Dims(b.dims.begin(), b.dims.end() - 2)) == 1;
  const std::int64_t k = a.dims.back(), n = b.dims.back();
  const bool flat =
      matrix && (a.dims.size() == 2 || a.contiguous() || !readable(a) || constant(root.input(1)) != nullptr);
  Dims rowsDims = dims;  // as the primitive sees the result
  if (flat) {
    if (a.dims.size() > 2) a = TRY(plain(a));
    const std::int64_t m = *elementCount(dims) / n;
    if (a.dims.size() > 2) a.strides = {k, 1};
    a.dims = {m, k};
    b.strides.erase(b.strides.begin(), b.strides.end() - 2);
    b.dims = {k, n};
    rowsDims = {m, n};
  } else {
    a = widened(a, dims.size());
    b = widened(b, dims.size());
  }
  if (!readable(a)) a = TRY(plain(a));
  if (!readable(b)) b = TRY(plain(b));

  std::vector<float> bias;
  const auto addBias = [&](const Tensor& tensor, float factor) {
    bias.resize(static_cast<std::size_t>(n), 0.0f);
    for (std::int64_t i = 0; i < n; ++i)
      bias[static_cast<std::size_t>(i)] += factor * static_cast<float>(tensor.asDouble(tensor.count() == 1 ? 0 : i));
  };
  dnnl::post_ops operations;
  std::vector<std::pair<int, Ref>> binaries;
  const auto addBinary = [&](const Ref& operand) {
    binaries.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len()) | DNNL_ARG_SRC_1, operand);
    operations.append_binary(dnnl::algorithm::binary_add, dnnlStrided(operand));
  };
  if (alpha != 1.0f) operations.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0f);
  if (gemm && root.input(2).valid()) {
    const Tensor* c = constant(root.input(2));
    const bool perColumn =
        c != nullptr && c->hasData() && (c->count() == 1 || (c->count() == n && c->dims().back() == n));
    if (perColumn && alpha == 1.0f) {
      addBias(*c, beta);
    } else {
      Ref operand = TRY(plain(TRY(ref(root.input(2)))));
      operand = widened(operand, 2);
      if (beta != 1.0f) {
        operand = scaled(operand, beta);
      }
      addBinary(operand);
    }
  }
  const bool simple = operations.len() == 0;
  std::size_t taken = 1;
  const bool own =
      m_options.ownMatMul && flat && simple && constant(root.input(1)) != nullptr && (a.strides[1] == 1 || k == 1);
  const auto number = [this](ValueId value) -> std::optional<float> {
    const Tensor* tensor = constant(value);
    return tensor == nullptr ? std::nullopt : std::optional(static_cast<float>(tensor->asDouble(0)));
  };
  for (const Chain::Operation& operation : chain.operations) {
    const Node& at = node(operation.node);
    if (operation.kind == Chain::Kind::Bias && operations.len() == 0) {
      addBias(*constant(operation.operand), 1.0f);
    } else if (own) {
      break;
    } else if (operation.kind == Chain::Kind::Residual) {
      Ref residual = TRY(plain(TRY(ref(operation.operand))));
      residual.dims = rowsDims;
      residual.strides = rowMajorStrides(rowsDims);
      addBinary(residual);
    } else if (operation.kind == Chain::Kind::Swish) {
      operations.append_eltwise(dnnl::algorithm::eltwise_swish, 1.0f, 0.0f);
      ++taken;
    } else if (!(operation.kind == Chain::Kind::Activation && appendActivation(operations, at, number))) {
      break;
    }
    ++taken;
  }
  const ValueId result = taken == chain.nodes.size() ? chain.result : node(chain.nodes[taken - 1]).outputs[0];
  const Ref target = allocate(result);
  define(result, target);
  for (std::size_t i = taken; i < chain.nodes.size(); ++i) m_pending.push_back(chain.nodes[i]);
  if (own) return emitOwnMatMul(root, a, target, rowsDims[0], n, k, std::move(bias));
  return guardDnnl<Done>("matrix product '" + root.name + "'", [&]() -> Status {
    const Tensor* weights = flat ? constant(root.input(1)) : nullptr;
    const memory::desc aDesc = dnnlStrided(a);
    const memory::desc bHeld = dnnlStrided(b);
    const memory::desc bDesc =
        weights != nullptr ? memory::desc(b.dims, memory::data_type::f32, memory::format_tag::any) : bHeld;
    Ref seen = target;
    seen.dims = rowsDims;
    seen.strides = rowMajorStrides(rowsDims);
    const memory::desc cDesc = dnnlStrided(seen);
    Dims biasDims(rowsDims.size(), 1);
    biasDims.back() = n;
    const memory::desc biasDesc(biasDims, memory::data_type::f32, rowMajorStrides(biasDims));
    const dnnl::primitive_attr attributes = userScratchpad(operations);
    const auto description =
        bias.empty() ? dnnl::matmul::primitive_desc(dnnlEngine(), aDesc, bDesc, cDesc, attributes)
                     : dnnl::matmul::primitive_desc(dnnlEngine(), aDesc, bDesc, biasDesc, cDesc, attributes);
    std::vector<BufferIndex> reads = {a.buffer};
    std::vector<DnnlStep::Argument> arguments = {
        {DNNL_ARG_SRC, aDesc, a.buffer, byteSize(DataType::F32, a.offset)},
        {DNNL_ARG_DST, cDesc, target.buffer, byteSize(DataType::F32, target.offset)}};
    std::vector<std::pair<int, memory>> owned;
    if (weights != nullptr && !m_options.probe) {
      const Tensor wide = weights->converted(DataType::F32);
      owned.emplace_back(DNNL_ARG_WEIGHTS, reordered(wide.bytes() + byteSize(DataType::F32, b.offset), bHeld,
                                                     description.weights_desc()));
    } else if (weights == nullptr) {
      arguments.push_back({DNNL_ARG_WEIGHTS, bHeld, b.buffer, byteSize(DataType::F32, b.offset)});
      reads.push_back(b.buffer);
    }
    if (!bias.empty())
      owned.emplace_back(DNNL_ARG_BIAS, reordered(reinterpret_cast<const std::byte*>(bias.data()), biasDesc, biasDesc));
    for (const auto& [id, operand] : binaries) {
      arguments.push_back({id, dnnlStrided(operand), operand.buffer, byteSize(DataType::F32, operand.offset)});
      reads.push_back(operand.buffer);
    }
    m_implementations.push_back(std::string("matmul:") + description.impl_info_str());
    m_program.addStep(std::make_unique<DnnlStep>(dnnl::matmul(description), std::move(arguments),
                                                 description.scratchpad_desc(), std::move(owned)),
                      reads, {target.buffer});
    return Done{};
  });
}

Status Lowering::emitOwnMatMul(const Node& root, const Ref& a, const Ref& target, std::int64_t m, std::int64_t n,
                               std::int64_t k, std::vector<float> bias) {
  m_implementations.push_back("matmul:own");
  if (m_options.probe) return Done{};
  const Tensor wide = constant(root.input(1))->converted(DataType::F32);
  const bool transposed = root.is("Gemm") && root.intAttribute("transB", 0) != 0;
  std::vector<float> packed(static_cast<std::size_t>(packedCount(k, n)));
  packPanels(wide.data<float>().data(), transposed ? 1 : n, transposed ? k : 1, k, n, 0,
             (n + gemmPanel() - 1) / gemmPanel(), packed.data());
  const Ref rows = a.strides[0] == k || m == 1 ? a : TRY(plain(a));
  m_program.addStep(std::make_unique<GemmStep>(rows, target, m, n, k, std::move(packed), std::move(bias), m_threads),
                    {rows.buffer}, {target.buffer});
  return Done{};
}

}  // namespace fusescope::native
