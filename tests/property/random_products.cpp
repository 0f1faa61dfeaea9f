#include "tests/property/random_products.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fusescope::property {

namespace {

using Operands = std::vector<const Array*>;

Dims outputDims(const Graph& graph, const Node& node) {
  return graph.value(node.outputs[0]).type.shape.fixed().value();
}

Array matMul(const Dims& dims, const Array& a, const Array& b) {
  const auto inner = static_cast<std::size_t>(a.dims.back());
  const auto columns = static_cast<std::size_t>(b.dims.back()), rows = static_cast<std::size_t>(dims[dims.size() - 2]);
  const Dims batch(dims.begin(), dims.end() - 2);
  const auto batches = [&](const Array& array) {
    return broadcastOffsets(Dims(array.dims.begin(), array.dims.end() - 2), batch);
  };
  const auto first = batches(a), second = batches(b);
  Array result = zeros(dims);
  std::size_t place = 0;
  for (std::size_t n = 0; n < first.size(); ++n)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j, ++place)
        for (std::size_t k = 0; k < inner; ++k)
          result.values[place] +=
              a.values[(first[n] * rows + i) * inner + k] * b.values[(second[n] * inner + k) * columns + j];
  return result;
}

Array gemm(const Node& node, const Dims& dims, const Operands& operands) {
  const auto at = [](const Array& array, bool transposed, std::int64_t i, std::int64_t j) {
    return array.values[static_cast<std::size_t>(transposed ? j * array.dims[1] + i : i * array.dims[1] + j)];
  };
  const bool transA = node.intAttribute("transA", 0) != 0, transB = node.intAttribute("transB", 0) != 0;
  const std::int64_t inner = operands[0]->dims[transA ? 0 : 1];
  Array result = zeros(dims);
  const auto bias = broadcastOffsets(operands[2]->dims, dims);
  for (std::int64_t i = 0; i < dims[0]; ++i)
    for (std::int64_t j = 0; j < dims[1]; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) sum += at(*operands[0], transA, i, k) * at(*operands[1], transB, k, j);
      const auto place = static_cast<std::size_t>(i * dims[1] + j);
      result.values[place] =
          node.floatAttribute("alpha", 1) * sum + node.floatAttribute("beta", 1) * operands[2]->values[bias[place]];
    }
  return result;
}

/// Walks the window of each place of a [n, c, h, w] result: visit(place, n, c, y, x) with y, x inside the input.
template <class Visit>
void eachWindow(const Node& node, const Dims& in, const Dims& out, const std::vector<std::int64_t>& kernel,
                const Visit& visit) {
  const auto pads = node.intsAttribute("pads", {0, 0, 0, 0}), strides = node.intsAttribute("strides", {1, 1});
  std::size_t place = 0;
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t c = 0; c < out[1]; ++c)
      for (std::int64_t i = 0; i < out[2]; ++i)
        for (std::int64_t j = 0; j < out[3]; ++j, ++place)
          for (std::int64_t p = 0; p < kernel[0]; ++p)
            for (std::int64_t q = 0; q < kernel[1]; ++q) {
              const std::int64_t y = i * strides[0] + p - pads[0], x = j * strides[1] + q - pads[1];
              if (y >= 0 && y < in[2] && x >= 0 && x < in[3]) visit(place, n, c, y, x, p * kernel[1] + q);
            }
}

Array conv(const Node& node, const Dims& dims, const Operands& operands) {
  const Array &x = *operands[0], &w = *operands[1];
  const Dims &in = x.dims, &kernel = w.dims;
  const std::int64_t perGroup = dims[1] / node.intAttribute("group", 1);
  Array result = zeros(dims);
  const std::size_t area = static_cast<std::size_t>(dims[2] * dims[3]);
  eachWindow(node, in, dims, {kernel[2], kernel[3]},
             [&](std::size_t place, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t at, std::int64_t tap) {
               for (std::int64_t k = 0; k < kernel[1]; ++k) {
                 const std::int64_t channel = c / perGroup * kernel[1] + k;
                 result.values[place] +=
                     x.values[static_cast<std::size_t>(((n * in[1] + channel) * in[2] + y) * in[3] + at)] *
                     w.values[static_cast<std::size_t>((c * kernel[1] + k) * kernel[2] * kernel[3] + tap)];
               }
             });
  if (operands.size() > 2 && operands[2] != nullptr)
    for (std::size_t i = 0; i < result.values.size(); ++i)
      result.values[i] += operands[2]->values[i / area % static_cast<std::size_t>(dims[1])];
  return result;
}

Array maxPool(const Node& node, const Dims& dims, const Array& x) {
  Array result = zeros(dims);
  std::fill(result.values.begin(), result.values.end(), -std::numeric_limits<double>::infinity());
  eachWindow(node, x.dims, dims, node.intsAttribute("kernel_shape"),
             [&](std::size_t place, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t at, std::int64_t) {
               const double value =
                   x.values[static_cast<std::size_t>(((n * x.dims[1] + c) * x.dims[2] + y) * x.dims[3] + at)];
               double& most = result.values[place];
               if (std::isnan(value) || value > most) most = value;
             });
  return result;
}

Array globalAverage(const Dims& dims, const Array& x) {
  Array result = zeros(dims);
  const std::size_t area = x.values.size() / result.values.size();
  for (std::size_t i = 0; i < x.values.size(); ++i) result.values[i / area] += x.values[i] / static_cast<double>(area);
  return result;
}

}  // namespace

std::optional<Array> calculateProduct(const Graph& graph, const Node& node, const Operands& operands) {
  if (node.is("MatMul")) return matMul(outputDims(graph, node), *operands[0], *operands[1]);
  if (node.is("Gemm")) return gemm(node, outputDims(graph, node), operands);
  if (node.is("Conv")) return conv(node, outputDims(graph, node), operands);
  if (node.is("MaxPool")) return maxPool(node, outputDims(graph, node), *operands[0]);
  if (node.is("GlobalAveragePool")) return globalAverage(outputDims(graph, node), *operands[0]);
  return std::nullopt;
}

}  // namespace fusescope::property
