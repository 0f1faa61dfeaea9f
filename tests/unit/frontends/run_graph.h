#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ir/model.h"
#include "ops/op_schema.h"
#include "ops/run_node.h"

namespace fusescope::test {

/// The outputs of `graph`, node by node with the reference kernels. `inputs`: one per graph input.
inline std::vector<Tensor> runGraph(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<ValueId, Tensor> values;
  for (const ValueId id : graph.allValues())
    if (const Tensor* constant = graph.constantData(id)) values[id] = *constant;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs().at(i)] = inputs[i];
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> given;
    for (const ValueId value : operands(node)) given.push_back(value.valid() ? &values.at(value) : nullptr);
    auto results = runNode(node, given);
    EXPECT_TRUE(results.ok()) << results.error().text();
    if (!results.ok()) return {};
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) values[node.outputs[i]] = results.value().at(i);
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs()) outputs.push_back(values.at(id));
  return outputs;
}

inline Tensor f32(Dims dims, const std::vector<float>& values) {
  return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
}

inline std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.count(); ++i) numbers.push_back(tensor.asDouble(i));
  return numbers;
}

}  // namespace fusescope::test
