#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/model.h"

namespace fusescope::test {

/// The network as another exporter might write it: every node and value has another name and id, and independent nodes
/// stand in another order, by `seed`. What each node was called stands in `before`, by the new NodeId.
std::shared_ptr<const Model> renamed(const Model& model, unsigned seed, std::vector<std::string>& before);
/// Without what is calculated between two values: readers of `to` read `from`, and what nobody reads is gone.
std::shared_ptr<const Model> without(const Model& model, const std::string& from, const std::string& to);
/// With one more node of one operand, as `op`, between a value and its readers.
std::shared_ptr<const Model> withNode(const Model& model, const std::string& value, const std::string& op,
                                      const std::string& name);
/// With every element of a constant in float32 multiplied by `factor`.
std::shared_ptr<const Model> scaled(const Model& model, const std::string& constant, float factor);
/// Blocks in a row, each a product to the width inside, a Relu, a product back and a residual sum: 4 nodes each, called
/// wide0, relu0, narrow0, sum0, wide1, … Results are called NODE_out.
std::shared_ptr<const Model> chainOfBlocks(const std::vector<std::int64_t>& widthsInside);
/// 8, 16, …, `period` widths again and again.
std::vector<std::int64_t> widthsInTurn(std::size_t blocks, std::int64_t period);

}  // namespace fusescope::test
