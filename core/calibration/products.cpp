#include "calibration/products.h"

#include "ir/graph.h"

namespace fusescope {

namespace {

bool isConvolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose");
}

NoProduct noKernel(std::string why) {
  return {"quantize.no_kernel", {{"why", std::move(why)}}};
}

/// Returns the attribute that no integer kernel supports, or nothing if there is none.
std::optional<NoProduct> oddForm(const Graph& graph, const Node& node, const Tensor& weights) {
  const std::size_t rank = weights.dims().size();
  if (isConvolution(node)) {
    if (rank < 3 || rank > 5) return noKernel("it has " + std::to_string(rank - 2) + " spatial axes");
    if (node.is("ConvTranspose") && node.intAttribute("group", 1) != 1)
      return noKernel("it is a transposed convolution with groups");
    return {};
  }
  if (rank != 2) return noKernel("its weights have " + std::to_string(rank) + " axes, not 2");
  const bool plain = node.intAttribute("transA", 0) == 0 && node.floatAttribute("alpha", 1) == 1 &&
                     (node.floatAttribute("beta", 1) == 1 || !node.input(2).valid());
  if (!plain) return noKernel("it scales its operands or transposes its input");
  if (node.is("Gemm") && node.input(2).valid()) {
    const bool along =
        graph.isConstant(node.input(2)) && elementCount(graph.value(node.input(2)).constant->dims()) ==
                                               weights.dims()[node.intAttribute("transB", 0) != 0 ? 0 : 1];
    if (!along) return noKernel("its addend is not a constant with one number for each column");
  }
  return {};
}

}  // namespace

bool multiplies(const Node& node) {
  return isConvolution(node) || node.is("MatMul") || node.is("Gemm");
}

std::variant<Product, NoProduct> productOf(const Graph& graph, const Node& node) {
  const ValueId source = node.input(0), held = node.input(1);
  const auto isDequantized = [&](ValueId value) {
    const NodeId producer = graph.value(value).producer;
    return graph.has(producer) && graph.node(producer).is("DequantizeLinear");
  };
  if (isDequantized(source) || isDequantized(held)) return NoProduct{"quantize.author"};
  if (graph.value(source).type.dtype != DataType::F32)
    return NoProduct{"quantize.not_float32", {{"type", name(graph.value(source).type.dtype)}}};
  if (graph.isConstant(source)) return noKernel("it multiplies a constant");
  if (!graph.isConstant(held)) return NoProduct{"quantize.two_activations", {{"value", graph.value(held).name}}};
  const Tensor* weights = graph.constantData(held);
  if (weights == nullptr || weights->type() != DataType::F32)
    return noKernel("its weights are not constants of type float32");
  if (weights->count() == 0) return noKernel("its weights are empty");
  if (const auto odd = oddForm(graph, node, *weights)) return *odd;
  Product product{.node = node.id, .source = source, .weights = held};
  const bool outputsFirst = node.is("Conv") || node.intAttribute("transB", 0) != 0;
  product.outputAxis = outputsFirst ? 0 : 1;
  product.sumAxis = 1 - product.outputAxis;
  const Shape& shape = graph.value(source).type.shape;
  product.sourceAxis = isConvolution(node) || !shape.ranked ? 1 : static_cast<std::int64_t>(shape.rank()) - 1;
  return product;
}

}  // namespace fusescope
