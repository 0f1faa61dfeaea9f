#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {

/// What a test of `Operator`, which has a name, in a type of floats is called.
template <class Operator>
std::string caseName(const std::tuple<Operator, DataType>& one) {
  return std::string(std::get<0>(one).name) + "_" + std::string(name(std::get<1>(one)));
}

/// A network under construction whose floats are all of one type.
struct TypedNet {
  explicit TypedNet(DataType floats) : type(floats) {}
  DataType type;
  Net net;

  ValueId input(const Dims& dims) { return net.input(dims, type); }
  ValueId input(const Dims& dims, DataType other) { return net.input(dims, other); }
  ValueId weights(const Dims& dims, float scale = 1) {
    Tensor tensor = randomTensor(DataType::F32, dims, net.seed++);
    for (float& number : tensor.mutableData<float>()) number *= scale;
    return constant(tensor);
  }
  ValueId positive(const Dims& dims) {
    Tensor tensor = randomTensor(DataType::F32, dims, net.seed++);
    for (float& number : tensor.mutableData<float>()) number = number * number + 0.5f;
    return constant(tensor);
  }
  ValueId number(float value) { return constant(Tensor::scalar(value)); }
  /// f32, whatever the type of the network: as scales of a Resize are.
  ValueId numbers(const std::vector<float>& values) { return net.numbers(values); }
  ValueId ints(std::vector<std::int64_t> values) { return net.ints(std::move(values)); }
  ValueId add(const std::string& op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    return net.add(op, std::move(inputs), std::move(attributes));
  }

 private:
  ValueId constant(const Tensor& tensor) {
    return net.editor.addConstant("c" + std::to_string(net.names++), tensor.converted(type));
  }
};

}  // namespace fusescope::testing
