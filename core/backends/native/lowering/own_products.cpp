#include "backends/native/kernels/gemm.h"
#include "backends/native/lowering/matrix_product.h"
#include "backends/native/steps/gemm_step.h"
#include "base/hash.h"

// Products by our own kernel.
namespace fusescope::native {
namespace {

/// Packs the weights [k, n], or [n, k] if they are transposed, into panels of `type` (gemm.h).
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

}  // namespace

Status emitOwnProducts(Context& context, std::vector<OwnProduct> products) {
  context.chose({.kind = kMatMulKernel});
  const Ref a = products.front().product.a;
  const std::int64_t m = a.dims[0], k = a.dims[1];
  std::vector<GemmTarget> targets;
  std::vector<BufferIndex> writes;
  for (OwnProduct& own : products) {
    const std::int64_t n = own.product.columns();
    const bool transposed = own.product.b.strides[1] != 1;
    writes.push_back(own.target.buffer);
    targets.push_back({.c = own.target, .n = n});
    if (const auto& codes = own.product.codes) {
      const auto packed = [&](DataType type, Packing packing) {
        return Ref{.buffer = context.program().addPacked(std::move(packing)), .dtype = type};
      };
      targets.back().codes = {.codes = packed(DataType::U8, codePanelPacking(*codes)),
                              .scales = packed(DataType::F32, panelScalePacking(*codes)),
                              .zeros = packed(DataType::F32, panelZeroPacking(*codes)),
                              .bits = codes->bits(),
                              .block = codes->block};
    } else {
      targets.back().packed = context.packedRef(
          {packedCount(k, n)}, packGemmPanels(*own.product.weights, k, n, transposed, own.product.held));
      targets.back().packed.dtype = own.product.held;
    }
    if (!own.product.biases.empty()) targets.back().bias = context.packedRef({n}, packBias(own.product));
  }
  const Ref rows = a.strides[0] == k || m == 1 ? a : TRY(context.plain(a));
  context.program().addStep(makeGemmStep(rows, m, k, std::move(targets), context.threads()), {rows.buffer}, writes);
  return Done{};
}

}  // namespace fusescope::native
