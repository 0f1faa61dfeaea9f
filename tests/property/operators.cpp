#include "tests/property/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "tests/property/movements.h"
#include "tests/property/random_products.h"

namespace fusescope::property {

namespace {

using Operands = std::vector<const Array*>;

using Unary = double (*)(double);
const std::map<std::string, Unary>& unaries() {
  static const std::map<std::string, Unary> kUnaries{
      {"Relu", [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::abs(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Softplus", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.01F * x : x; }},
      {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"IsNaN", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
  };
  return kUnaries;
}

double orNaN(double a, double b, double result) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : result;
}

using Binary = double (*)(double, double);
const std::map<std::string, Binary>& binaries() {
  static const std::map<std::string, Binary> kBinaries{
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Max", [](double a, double b) { return orNaN(a, b, std::max(a, b)); }},
      {"Min", [](double a, double b) { return orNaN(a, b, std::min(a, b)); }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
  };
  return kBinaries;
}

Dims outputDims(const Graph& graph, const Node& node, std::size_t i = 0) {
  return graph.value(node.outputs[i]).type.shape.fixed().value();
}

DataType declaredType(const Graph& graph, const Node& node) {
  return graph.value(node.outputs[0]).type.dtype;
}

/// Each element of the result from the elements at its place.
template <class Function>
Array eachPlace(const Dims& dims, const Operands& operands, const Function& function) {
  Array result = zeros(dims);
  std::vector<std::vector<std::size_t>> offsets;
  for (const Array* operand : operands) offsets.push_back(broadcastOffsets(operand->dims, dims));
  std::vector<double> at(operands.size());
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) at[k] = operands[k]->values[offsets[k][i]];
    result.values[i] = function(at);
  }
  return result;
}

/// Positions of a tensor, grouped by those that agree in all but `axes`.
std::vector<std::vector<std::size_t>> groups(const Dims& dims, const std::vector<std::int64_t>& axes) {
  Dims kept = dims;
  for (const std::int64_t axis : axes)
    kept[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis)] = 1;
  const std::vector<std::size_t> owner = broadcastOffsets(kept, dims);
  std::vector<std::vector<std::size_t>> result(static_cast<std::size_t>(elementCount(kept).value()));
  for (std::size_t i = 0; i < owner.size(); ++i) result[owner[i]].push_back(i);
  return result;
}

Array softmax(const Array& x, std::int64_t axis) {
  Array result = x;
  for (const auto& group : groups(x.dims, {axis})) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const std::size_t i : group) most = std::max(most, x.values[i]);
    for (const std::size_t i : group) sum += result.values[i] = std::exp(x.values[i] - most);
    for (const std::size_t i : group) result.values[i] /= sum;
  }
  return result;
}

Array reduce(const Graph& graph, const Node& node, const Operands& operands) {
  std::vector<std::int64_t> axes;
  for (const double axis : operands[1]->values) axes.push_back(static_cast<std::int64_t>(axis));
  Array result = zeros(outputDims(graph, node));
  std::size_t place = 0;
  for (const auto& group : groups(operands[0]->dims, axes)) {
    double sum = 0, most = operands[0]->values[group.front()], least = most;
    for (const std::size_t i : group) {
      const double value = operands[0]->values[i];
      sum += value;
      most = orNaN(value, most, std::max(most, value));
      least = orNaN(value, least, std::min(least, value));
    }
    const bool mean = node.is("ReduceMean");
    const double total = mean ? sum / static_cast<double>(group.size()) : sum;
    result.values[place++] = node.is("ReduceMax") ? most : node.is("ReduceMin") ? least : total;
  }
  return result;
}

Array layerNorm(const Node& node, const Operands& operands) {
  const Array& x = *operands[0];
  Array result = x;
  const double epsilon = node.floatAttribute("epsilon", 1e-5F);
  for (const auto& group : groups(x.dims, {-1})) {
    const auto size = static_cast<double>(group.size());
    double mean = 0, square = 0;
    for (const std::size_t i : group) mean += x.values[i] / size;
    for (const std::size_t i : group) square += (x.values[i] - mean) * (x.values[i] - mean) / size;
    for (std::size_t k = 0; k < group.size(); ++k)
      result.values[group[k]] =
          (x.values[group[k]] - mean) / std::sqrt(square + epsilon) * operands[1]->values[k] + operands[2]->values[k];
  }
  return result;
}

Array batchNorm(const Node& node, const Operands& operands) {
  Array result = *operands[0];
  const double epsilon = node.floatAttribute("epsilon", 1e-5F);
  const auto channels = static_cast<std::size_t>(result.dims[1]);
  const std::size_t inner = result.values.size() / static_cast<std::size_t>(result.dims[0]) / channels;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const std::size_t c = i / inner % channels;
    const auto at = [&](std::size_t operand) { return operands[operand]->values[c]; };
    result.values[i] = (result.values[i] - at(3)) / std::sqrt(at(4) + epsilon) * at(1) + at(2);
  }
  return result;
}

double parameterAt(const Array& parameter, std::size_t i, const Dims& dims, std::int64_t axis) {
  if (parameter.count() == 1) return parameter.values[0];
  const auto strides = stridesOf(dims);
  const auto place = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis);
  return parameter.values[static_cast<std::size_t>(static_cast<std::int64_t>(i) / strides[place] % dims[place])];
}

/// Nothing for what is no number, as in castTo.
std::optional<Array> quantize(const Graph& graph, const Node& node, const Operands& operands) {
  const bool isSigned = declaredType(graph, node) == DataType::I8;
  const double least = isSigned ? -128 : 0, most = isSigned ? 127 : 255;
  const std::int64_t axis = node.intAttribute("axis", 1);
  Array result = *operands[0];
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    if (std::isnan(result.values[i])) return std::nullopt;
    const double scale = parameterAt(*operands[1], i, result.dims, axis);
    const double code = std::nearbyint(result.values[i] / scale) + parameterAt(*operands[2], i, result.dims, axis);
    result.values[i] = std::clamp(code, least, most);
  }
  return result;
}

Array dequantize(const Node& node, const Operands& operands) {
  const std::int64_t axis = node.intAttribute("axis", 1);
  Array result = *operands[0];
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = (result.values[i] - parameterAt(*operands[2], i, result.dims, axis)) *
                       parameterAt(*operands[1], i, result.dims, axis);
  return result;
}

/// Nothing if a number that is none becomes an integer: ONNX leaves open what it is then.
std::optional<Array> castTo(const Graph& graph, const Node& node, const Array& x) {
  Array result = x;
  if (!isInteger(declaredType(graph, node))) return result;
  for (double& value : result.values) {
    if (!std::isfinite(value)) return std::nullopt;
    value = std::trunc(value);
  }
  return result;
}

}  // namespace

std::optional<std::vector<Array>> calculate(const Graph& graph, const Node& node, const Operands& operands) {
  const auto one = [](Array array) { return std::optional(std::vector<Array>{std::move(array)}); };
  if (!node.domain.empty()) return std::nullopt;
  if (const auto found = unaries().find(node.op); found != unaries().end())
    return one(eachPlace(operands[0]->dims, operands, [&](const auto& at) { return found->second(at[0]); }));
  if (const auto found = binaries().find(node.op); found != binaries().end())
    return one(
        eachPlace(outputDims(graph, node), operands, [&](const auto& at) { return found->second(at[0], at[1]); }));
  if (node.is("Where"))
    return one(eachPlace(outputDims(graph, node), operands, [](const auto& at) { return at[0] != 0 ? at[1] : at[2]; }));
  if (node.is("Clip"))
    return one(eachPlace(operands[0]->dims, operands, [](const auto& at) {
      return std::isnan(at[0]) ? at[0] : std::min(std::max(at[0], at[1]), at[2]);
    }));
  if (node.is("Softmax")) return one(softmax(*operands[0], node.intAttribute("axis", -1)));
  if (node.op.starts_with("Reduce")) return one(reduce(graph, node, operands));
  if (node.is("LayerNormalization")) return one(layerNorm(node, operands));
  if (node.is("BatchNormalization")) return one(batchNorm(node, operands));
  if (node.is("QuantizeLinear")) {
    auto quantized = quantize(graph, node, operands);
    return quantized ? one(std::move(*quantized)) : std::nullopt;
  }
  if (node.is("DequantizeLinear")) return one(dequantize(node, operands));
  if (node.is("Cast")) {
    auto cast = castTo(graph, node, *operands[0]);
    return cast ? one(std::move(*cast)) : std::nullopt;
  }
  if (auto product = calculateProduct(graph, node, operands)) return one(std::move(*product));
  return calculateMovement(graph, node, operands);
}

}  // namespace fusescope::property
