// Matrix products.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/matmul_support.h"
#include "ops/support/multiply.h"
#include "ops/support/strided.h"
#include "ops/support/work.h"

namespace fusescope::ops {

Result<Shape> matmulShape(const InferContext& context, const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked) return Shape::unknown();
  if (a.rank() == 0 || b.rank() == 0) return problem("a matrix product needs operands of rank 1 or more");
  const Dim& innerB = b.rank() == 1 ? b.dims[0] : b.dims[b.rank() - 2];
  TRY(unified(context, a.dims.back(), innerB, "the inner extents of a matrix product"));
  const auto batchOf = [](const Shape& s) {
    return Shape::of(std::vector<Dim>(s.dims.begin(), s.dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(s.dims))));
  };
  Shape result = TRY(broadcast(batchOf(a), batchOf(b)));
  if (a.rank() > 1) result.dims.push_back(a.dims[a.rank() - 2]);
  if (b.rank() > 1) result.dims.push_back(b.dims.back());
  return result;
}

MatMulExtents matmulExtents(const Dims& a, const Dims& b) {
  MatMulExtents e;
  e.k = a.back();
  e.m = a.size() > 1 ? a[a.size() - 2] : 1;
  e.n = b.size() > 1 ? b.back() : 1;
  Dims batchA(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  Dims batchB(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));
  const Shape batch = broadcast(Shape::of(batchA), Shape::of(batchB)).value();
  e.batch = *batch.fixed();
  e.stridesA = broadcastStrides(batchA, e.batch);
  e.stridesB = broadcastStrides(batchB, e.batch);
  return e;
}

std::int64_t matmulFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  if (inputs.empty() || outputs.empty() || inputs[0].empty()) return 0;
  return workOf({2, workOf(outputs[0]), inputs[0].back()});
}

namespace {

Result<Types> inferMatMul(const InferContext& context) {
  return one(context.input(0).dtype, TRY(matmulShape(context, context.input(0).shape, context.input(1).shape)));
}

template <class T>
void multiplyAll(const Tensor& a, const Tensor& b, Tensor& c) {
  const MatMulExtents e = matmulExtents(a.dims(), b.dims());
  T* to = c.mutableData<T>().data();
  const T* left = a.data<T>().data();
  const T* right = b.data<T>().data();
  if (b.count() == e.k * e.n) {  // one matrix on the right for all rows
    multiply(left, right, to, a.count() / std::max<std::int64_t>(e.k, 1), e.k, e.n);
    return;
  }
  forEachIndex(e.batch, [&](const Dims& index) {
    multiply(left + offsetOf(index, e.stridesA) * e.m * e.k, right + offsetOf(index, e.stridesB) * e.k * e.n, to, e.m,
             e.k, e.n);
    to += e.m * e.n;
    return true;
  });
}

Result<Tensors> matmul(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(),
                 [&]<class T>(std::type_identity<T>) { multiplyAll<T>(context.input(0), context.input(1), result); });
  return Tensors{std::move(result)};
}

Result<Types> inferGemm(const InferContext& context) {
  TRY(requireRank(context, 0, 2));
  TRY(requireRank(context, 1, 2));
  const Shape &a = context.input(0).shape, &b = context.input(1).shape;
  if (!a.ranked || !b.ranked) return one(context.input(0).dtype, unknownOfRank(2));
  const bool transA = context.node().intAttribute("transA", 0) != 0;
  const bool transB = context.node().intAttribute("transB", 0) != 0;
  TRY(unified(context, a.dims[transA ? 0 : 1], b.dims[transB ? 1 : 0], "the inner extents of a matrix product"));
  Shape result = Shape::of({a.dims[transA ? 1 : 0], b.dims[transB ? 0 : 1]});
  if (context.hasInput(2)) {
    const Shape with = TRY(broadcast(result, context.input(2).shape));
    if (with.ranked && (with.rank() != 2 || (result.fixed() && with != result)))
      return problem(fmt::format("C {} cannot be broadcast to the product {}", context.input(2).text(),
                                 TensorType{context.input(0).dtype, result}.text()));
  }
  return one(context.input(0).dtype, std::move(result));
}

/// Returns the transpose of a matrix.
template <class T>
std::vector<T> transposedCopy(const Tensor& matrix) {
  const std::int64_t rows = matrix.dims()[0], columns = matrix.dims()[1];
  const T* from = matrix.data<T>().data();
  std::vector<T> to(static_cast<std::size_t>(matrix.count()));
  copyStrided<T>({columns, rows}, from, {1, columns}, to.data(), {rows, 1});
  return to;
}

template <class T>
void gemmInto(const KernelContext& context, Tensor& result) {
  const Node& node = context.node();
  const Tensor &a = context.input(0), &b = context.input(1);
  const bool transA = node.intAttribute("transA", 0) != 0, transB = node.intAttribute("transB", 0) != 0;
  const std::vector<T> turnedA = transA ? transposedCopy<T>(a) : std::vector<T>();
  const std::vector<T> turnedB = transB ? transposedCopy<T>(b) : std::vector<T>();
  const std::int64_t m = result.dims()[0], n = result.dims()[1], k = a.dims()[transA ? 0 : 1];
  T* to = result.mutableData<T>().data();
  multiply(transA ? turnedA.data() : a.data<T>().data(), transB ? turnedB.data() : b.data<T>().data(), to, m, k, n);
  const float alpha = node.floatAttribute("alpha", 1.0F), beta = node.floatAttribute("beta", 1.0F);
  if (alpha != 1.0F)
    for (T& element : result.mutableData<T>()) element = static_cast<T>(static_cast<T>(alpha) * element);
  if (!context.hasInput(2)) return;
  const T* c = context.input(2).data<T>().data();
  forEachRun<1>(result.dims(), {broadcastStrides(context.input(2).dims(), result.dims())},
                [&](const auto& at, const auto& step, std::int64_t count) {
                  for (std::int64_t j = 0; j < count; ++j)
                    *to++ += static_cast<T>(static_cast<T>(beta) * c[at[0] + j * step[0]]);
                });
}

Result<Tensors> gemm(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) { gemmInto<T>(context, result); });
  return Tensors{std::move(result)};
}

std::int64_t gemmFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  if (inputs.empty() || outputs.empty() || inputs[0].size() != 2) return 0;
  const std::int64_t elements = workOf(outputs[0]);
  const std::int64_t k = inputs[0][node.intAttribute("transA", 0) != 0 ? 0 : 1];
  return addedWork(workOf({2, elements, k}), inputs.size() > 2 ? elements : 0);
}

}  // namespace

void registerMatMul(OpRegistry& registry) {
  registry.add({.op = "Gemm",
                .kind = OpKind::MatMul,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferGemm,
                .kernel = widened(gemm),
                .flops = gemmFlops,
                .signature = {"TTT", {{'T', kNumberTypes}}}});
  registry.add({.op = "MatMul",
                .kind = OpKind::MatMul,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferMatMul,
                .kernel = widened(matmul),
                .flops = matmulFlops,
                .signature = {"TT", {{'T', kNumberTypes}}}});
}

}  // namespace fusescope::ops
