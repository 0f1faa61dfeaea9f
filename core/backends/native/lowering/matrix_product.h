#pragma once

#include <dnnl.hpp>

#include "backends/native/kernels/code_panels.h"
#include "backends/native/lowering/epilogue_chain.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// A matrix product with the operations that were folded into it.
struct PreparedMatMul {
  Ref a, b;
  DataType type = DataType::F32;    ///< the type in which both operands are multiplied
  Dims result;                      ///< extents as the primitive uses them: [m, n], or with batches in front
  std::optional<Weight> weights;    ///< set if `b` is a constant matrix
  DataType held = DataType::F32;    ///< a narrow type that represents all of `weights` exactly, or F32
  std::optional<CodeMatrix> codes;  ///< set if `weights` are dequantised from codes
  std::vector<std::pair<Weight, float>> biases;  ///< one per column, or one number, each with its factor; they are
                                                 ///< added up
  dnnl::post_ops operations;
  std::vector<std::pair<int, Ref>> addends;  ///< operands of `operations`, by oneDNN's argument number
  std::map<ValueId, Ref> residuals;          ///< those of the addends that have the layout of the result
  dnnl::post_ops sums;                       ///< `operations` before the first activation
  std::size_t summed = 0;                    ///< number of nodes before the first activation; 0: there is no activation
  bool mayLoseNumbers = false;

  std::int64_t columns() const { return b.dims.back(); }
};

/// A product that our own kernel runs, and its result.
struct OwnProduct {
  PreparedMatMul product;
  Ref target;
};

/// Returns `ref`, which is row-major, with other extents.
Ref denseAs(Ref ref, const Dims& dims);
/// Packs the sum of the biases of a product, for each column.
Packing packBias(const PreparedMatMul& product);

/// Returns whether a primitive or our own kernel can run the product.
bool canMultiply(const Context& context, const Node& root);
/// Returns whether our own kernel can run it, given a plain first operand.
bool isOwnProduct(const Context& context, const Node& root);
/// If the second operand of the product `root` is the transposition of a constant matrix, returns that matrix, which is
/// then packed directly.
std::optional<ValueId> transposedConstant(const Context& context, const Node& root);
/// Returns the codes from which the second operand of a product, a constant matrix, is dequantised: with one scale, one
/// for each column, or one for each block along k.
std::optional<CodeMatrix> codeMatrix(const Context& context, const Node& root);

/// Prepares the product without what follows it. Operands are multiplied in `type`; `own` says that our own kernel runs
/// it.
Result<PreparedMatMul> prepareMatMul(Context& context, const Node& root, DataType type, bool own);
/// Folds the following operations into the product as far as they can be post-operations; our own kernel supports only
/// biases. Returns how many nodes of the chain the product then includes.
Result<std::size_t> foldChain(Context& context, const Chain& chain, PreparedMatMul& product, bool own);
/// Adds one step that runs all of the products, which must have the same first operand.
Status emitOwnProducts(Context& context, std::vector<OwnProduct> products);

}  // namespace fusescope::native
